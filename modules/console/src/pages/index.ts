// The pages of the console. To add one: write its file here beside, add a line below and
// its texts in ../i18n/messages.ts.
import type { FunctionComponent } from "preact";
import type { Key } from "../i18n/t";
import type { Lazy } from "../ui/lazy";
import { Account, BriefPage, Collections, Compare, Creators, Hooks, Library, Outliers, Report, RulesPage, ScrollPage, Trends } from "./later";
import { Start } from "./start";

export type PageProps = {
  /** The parts of the address after the page's own name: an id, or nothing. */
  rest: string[];
};

export type PageEntry = {
  /** The first part of the address below /console/; empty for the first page. */
  path: string;
  title: Key;
  /** The path of its icon, on a grid of 24 by 24; a page without one is not in the navigation. */
  icon?: string;
  view: FunctionComponent<PageProps> | Lazy<PageProps>;
};

/** In the order of the navigation. */
export const pages: PageEntry[] = [
  { path: "", title: "nav.start", icon: "M4 11l8-7 8 7v9h-5v-6H9v6H4z", view: Start },
  { path: "scroll", title: "nav.scroll", icon: "M12 4v12m0 0l-5-5m5 5l5-5M5 20h14", view: ScrollPage },
  { path: "outliers", title: "nav.outliers", icon: "M4 20h16M4 20V4M8 15h.01M11 12h.01M13 15h.01M18 6h.01M15 10h.01", view: Outliers },
  { path: "hooks", title: "nav.hooks", icon: "M5 5h14v10H10l-5 4zM9 9h6M9 12h4", view: Hooks },
  { path: "trends", title: "nav.trends", icon: "M4 17l6-6 4 4 6-8M15 7h5v5", view: Trends },
  { path: "brief", title: "nav.brief", icon: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h5", view: BriefPage },
  { path: "rules", title: "nav.rules", icon: "M4 6h10M4 12h7M4 18h10M17 10l2 2 3-4", view: RulesPage },
  { path: "library", title: "nav.library", icon: "M5 4v16M10 4v16M14 5l5 15M3 20h18", view: Library },
  { path: "collections", title: "nav.collections", icon: "M6 3h12v18l-6-5-6 5zM9 8h6", view: Collections },
  { path: "compare", title: "nav.compare", icon: "M4 20V10h5v10M10 20V4h5v16M16 20v-7h4v7M3 20h18", view: Compare },
  { path: "report", title: "nav.report", icon: "M5 3h14v18H5zM9 16v-3M12 16V9M15 16v-5M9 6h6", view: Report },
  { path: "account", title: "nav.account", icon: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 20c1.5-3.5 4.5-5 8-5s6.500 1.500 8 5", view: Account },
  { path: "creators", title: "table.creator", view: Creators },
];
