// The pages of the console. To add one: write its file here beside, add a line below and
// its texts in ../i18n/messages.ts.
import type { FunctionComponent } from "preact";
import type { Key } from "../i18n/t";
import { Account } from "./account";
import { ScrollPage } from "./scroll";
import { Start } from "./start";

export type PageProps = {
  /** The parts of the address after the page's own name: an id, or nothing. */
  rest: string[];
};

export type PageEntry = {
  /** The first part of the address below /console/; empty for the first page. */
  path: string;
  title: Key;
  /** The path of its icon, on a grid of 24 by 24. */
  icon: string;
  view: FunctionComponent<PageProps>;
};

/** In the order of the navigation. */
export const pages: PageEntry[] = [
  { path: "", title: "nav.start", icon: "M4 11l8-7 8 7v9h-5v-6H9v6H4z", view: Start },
  { path: "scroll", title: "nav.scroll", icon: "M12 4v12m0 0l-5-5m5 5l5-5M5 20h14", view: ScrollPage },
  { path: "account", title: "nav.account", icon: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 20c1.5-3.5 4.5-5 8-5s6.500 1.500 8 5", view: Account },
];
