// What the pages of MCP Apps share: the colours of the host, and the states of their data.
import { signal } from "@preact/signals";
import { render, type ComponentChildren, type FunctionComponent } from "preact";
import { t } from "../i18n/t";
import { Announcer } from "../shell/announce";
import { theme } from "../shell/preferences";
import { Loading } from "../ui/states";
import { connect, read, type Handlers, type Host, type HostContext } from "./bridge";

export type Shown = {
  /** The newest answer of the tool. */
  data: Record<string, unknown>;
  /** The arguments that it was called with. */
  given: Record<string, unknown>;
  host: Host;
};

const data = signal<Record<string, unknown> | undefined>(undefined);
const given = signal<Record<string, unknown>>({});
const problem = signal("");
const host = signal<Host>({ call: undefined });

/** Shows a page for the results of a tool, once the host has sent one. */
export function start(title: string, Page: FunctionComponent<Shown>): void {
  document.title = title;
  const root = document.getElementById("app");
  if (root) render(<Frame title={title}>{(shown) => <Page {...shown} />}</Frame>, root);
  const handlers: Handlers = {
    input: (input) => { given.value = input; },
    result: (result) => attempt(() => { data.value = read(result); }),
    cancelled: () => { problem.value = t("app.cancelled"); },
    context: follow,
  };
  connect(handlers).then((made) => { host.value = made; }, (why: Error) => { problem.value = why.message; });
}

function follow(context: HostContext): void {
  if (context.theme) theme.value = document.documentElement.dataset.theme = context.theme;
}

function attempt(what: () => void): void {
  try {
    what();
    problem.value = "";
  } catch (why) {
    problem.value = why instanceof Error ? why.message : t("app.failed");
  }
}

function Frame({ title, children }: { title: string; children: (shown: Shown) => ComponentChildren }) {
  return (
    <main class="app">
      <h1>{title}</h1>
      {problem.value && <p class="notice bad" role="alert">{problem.value}</p>}
      {data.value ? children({ data: data.value, given: given.value, host: host.value }) : !problem.value && <Loading lines={4} />}
      <Announcer />
    </main>
  );
}
