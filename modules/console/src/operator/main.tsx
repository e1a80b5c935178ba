// The page of the operator: it reads, has the server read its settings again, and changes one account.
import { render, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { dateTime, duration, number, relative } from "../i18n/format";
import { applyPreferences, language, preferred } from "../shell/preferences";
import { takeCode } from "../shell/router";
import { Badge, Button, Card, PageHead, type Tone } from "../ui/parts";
import { Table, type Column } from "../ui/table";
import { AccountCard } from "./account";
import { away, check, chosen, enter, follow, leave, orderScroll, overview, reload, state, type Overview, type Reloaded, type ScrollRow, type Setting } from "./read";
import { isText, say } from "./texts";

function List<T>({ title, empty, rows, id, columns }: { title: string; empty: string; rows: T[] | null; id: (row: T) => string; columns: Column<T>[] }) {
  return (
    <Card title={title}>
      {rows?.length ? <Table caption={title} rows={rows} id={id} columns={columns} /> : <p class="muted">{empty}</p>}
    </Card>
  );
}

const when = (at: number): ComponentChildren => (at ? <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>{relative(at)}</time> : say("none"));

const pluginTones: Record<string, Tone> = { ready: "good", resting: "bad", refused: "bad", unset: "plain", off: "plain" };

/** The words for what a part is named by; the name itself where there are none. */
const words = (name: string): string => (isText(name) ? say(name) : name);

function Troubles({ of }: { of: Overview }) {
  return (
    <Card title={say("troubles")}>
      {of.troubles?.length ? (
        <ul class="plain-list">
          {of.troubles.map((one) => (
            <li key={`${one.kind} ${one.of}`}><Badge tone="bad">!</Badge> {isText(one.kind) ? say(one.kind, { of: words(one.of), n: one.n }) : one.kind}</li>
          ))}
        </ul>
      ) : <p class="muted">{say("noTroubles")}</p>}
    </Card>
  );
}

function form(of: Setting): string {
  if (of.values?.length) return of.values.join(", ");
  if (of.min || of.max) return say("bounds", { type: of.type, min: of.min || "…", max: of.max || "…" });
  return of.secret ? say("secret") : of.type || say("none");
}

function SettingValue({ of }: { of: Setting }) {
  if (of.secret ? of.set : of.value) return of.secret ? <Badge tone="good">{say("isSet")}</Badge> : <code>{of.value}</code>;
  return of.required ? <Badge tone="warn">{say("missing")}</Badge> : <>{say("none")}</>;
}

function Settings({ of }: { of: Overview }) {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Reloaded | Error | null>(null);
  const again = async () => {
    setBusy(true);
    setDone(await reload());
    setBusy(false);
  };
  const names = (list: string[] | null) => list?.join(", ") || say("none");
  return (
    <Card title={say("settings")}>
      <p class="muted">{say("settingsText")}</p>
      <Button onClick={() => void again()} disabled={busy}>{say("reload")}</Button>
      <div role="status">
        {done instanceof Error && <p class="notice bad">{say("notReloaded", { why: done.message })}</p>}
        {done && !(done instanceof Error) && <p class="notice">{say("reloaded", { plugins: names(done.plugins) })}{done.restart?.length ? ` ${say("needsRestart", { names: names(done.restart) })}` : ""}</p>}
      </div>
      <Table caption={say("settings")} rows={of.settings ?? []} id={(row) => `${row.plugin} ${row.name}`} columns={[
        { title: say("plugin"), cell: (row) => row.plugin },
        { title: say("setting"), head: true, cell: (row) => <code>{row.name}</code> },
        { title: say("value"), cell: (row) => <SettingValue of={row} /> },
        { title: say("form"), cell: form },
        { title: say("setBy"), cell: (row) => (row.variable ? <code>{row.variable}</code> : say("inFile")) },
        { title: say("help"), cell: (row) => row.help },
      ]} />
    </Card>
  );
}

/** A button that has a plugin check itself, and what it said. */
function Connection({ of }: { of: string }) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ check: string } | Error | null>(null);
  const ask = async () => {
    setBusy(true);
    setSaid(await check(of));
    setBusy(false);
  };
  return (
    <>
      <Button kind="quiet" onClick={() => void ask()} disabled={busy} aria-label={say("checkOf", { plugin: of })}>{say("checkIt")}</Button>
      <span role="status">{said && <bdi>{said instanceof Error ? <Badge tone="bad">{said.message}</Badge> : said.check}</bdi>}</span>
    </>
  );
}

/** A button that cancels a scroll, once it is pressed again, or starts it again, and what came of it. */
function ScrollOrder({ of, todo }: { of: string; todo: "cancel" | "retry" }) {
  const [asked, setAsked] = useState(todo === "retry");
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ scroll: string } | Error | null>(null);
  const press = async () => {
    if (!asked) return setAsked(true);
    setBusy(true);
    setSaid(await orderScroll(of, todo));
    setBusy(false);
  };
  const text = say(todo === "retry" ? "retry" : asked ? "cancelSure" : "cancel");
  return (
    <>
      <Button kind="quiet" onClick={() => void press()} disabled={busy} aria-label={`${text}: ${of}`}>{text}</Button>
      <span role="status">{said && <bdi>{said instanceof Error ? <Badge tone="bad">{said.message}</Badge> : todo === "retry" ? say("retried", said) : say("cancelled")}</bdi>}</span>
    </>
  );
}

function Now({ of }: { of: Overview }) {
  const waiting = (of.queue ?? []).reduce((sum, one) => sum + one.jobs, 0);
  const scrolls = [...(of.running ?? []).map((row) => ({ ...row, runs: true })), ...(of.queued ?? []).map((row) => ({ ...row, runs: false }))];
  const ids: Column<ScrollRow>[] = [
    { title: say("scroll"), head: true, cell: (row) => <code>{row.id}</code> },
    { title: say("account"), cell: (row) => <code>{row.account}</code> },
  ];
  return (
    <>
      <p class="muted">{say("updated", { when: relative(of.at), version: of.version, roles: of.roles.join(", ") })}</p>
      <dl class="figures">
        <div><dt>{say("waiting")}</dt><dd class="figure">{number(waiting)}</dd></div>
        <div><dt>{say("running")}</dt><dd class="figure">{number(of.running?.length ?? 0)}</dd></div>
        <div><dt>{say("queued")}</dt><dd class="figure">{number(of.queued?.length ?? 0)}</dd></div>
        <div><dt>{say("connections")}</dt><dd class="figure">{say("ofMax", { n: of.connections.inUse, max: of.connections.max })}</dd></div>
        {(of.disks ?? []).map((disk) => (
          <div key={disk.of}><dt>{say("free", { of: words(disk.of) })}</dt><dd class="figure">{say("bytes", { n: Math.floor(disk.free / 2 ** 30) })}</dd></div>
        ))}
      </dl>
      <Troubles of={of} />
      <List title={say("hours")} empty={say("noHours")} rows={of.hours} id={(row) => String(row.at)} columns={[
        { title: say("hour"), head: true, cell: (row) => <time dateTime={new Date(row.at).toISOString()}>{dateTime(row.at)}</time> },
        { title: say("requests"), number: true, cell: (row) => number(row.requests) },
        { title: say("failed"), number: true, cell: (row) => number(row.failed) },
        { title: say("median"), number: true, cell: (row) => say("ms", { n: Math.ceil(row.medianMs) }) },
        { title: say("slow"), number: true, cell: (row) => say("ms", { n: Math.ceil(row.slowMs) }) },
      ]} />
      <p class="muted">{say("hoursText")} <a href="/metrics">/metrics</a></p>
      <List title={say("kept")} empty={say("noKept")} rows={of.kept} id={(row) => row.source} columns={[
        { title: say("source"), head: true, cell: (row) => row.source },
        { title: say("tenantsOf"), number: true, cell: (row) => number(row.accounts) },
        { title: say("readings"), number: true, cell: (row) => number(row.readings) },
        { title: say("oldestReading"), cell: (row) => when(row.oldestAt) },
        { title: say("nextDue"), cell: (row) => when(row.nextAt) },
        { title: say("overdue"), number: true, cell: (row) => (row.overdue ? <Badge tone="bad">{number(row.overdue)}</Badge> : number(0)) },
      ]} />
      <List title={say("running")} empty={say("noScrolls")} rows={scrolls} id={(row) => row.id} columns={[
        ...(ids as Column<(typeof scrolls)[number]>[]),
        { title: say("state"), cell: (row) => <Badge tone={row.runs ? "info" : "plain"}>{say(row.runs ? "isRunning" : "isQueued")}</Badge> },
        { title: say("step"), cell: (row) => row.step || say("none") },
        { title: say("starts"), number: true, cell: (row) => number(row.attempt) },
        { title: say("begun"), cell: (row) => when(row.createdAt) },
        { title: say("heartbeat"), cell: (row) => when(row.heartbeatAt) },
        { title: say("order"), cell: (row) => <ScrollOrder of={row.id} todo="cancel" /> },
      ]} />
      <List title={say("failures")} empty={say("noFailures")} rows={of.failed} id={(row) => row.id} columns={[
        ...ids,
        { title: say("failure"), cell: (row) => <Badge tone="bad">{row.failureCode || say("none")}</Badge> },
        { title: say("step"), cell: (row) => row.step || say("none") },
        { title: say("begun"), cell: (row) => when(row.createdAt) },
        { title: say("order"), cell: (row) => <ScrollOrder of={row.id} todo="retry" /> },
      ]} />
      <div class="columns">
        <List title={say("queue")} empty={say("noQueue")} rows={of.queue} id={(row) => row.kind} columns={[
          { title: say("kind"), head: true, cell: (row) => row.kind },
          { title: say("jobs"), number: true, cell: (row) => number(row.jobs) },
          { title: say("oldest"), number: true, cell: (row) => duration(row.oldestMs) },
        ]} />
        <List title={say("tenants")} empty={say("noTenants")} rows={of.tenants} id={(row) => row.account} columns={[
          { title: say("account"), head: true, cell: (row) => <Button kind="quiet" onClick={() => { chosen.value = row.account; }}>{row.account}</Button> },
          { title: say("units"), number: true, cell: (row) => number(row.units) },
          { title: say("running"), number: true, cell: (row) => number(row.running) },
        ]} />
      </div>
      <AccountCard />
      <List title={say("quotas")} empty={say("noQuotas")} rows={of.quotas} id={(row) => `${row.plugin} ${row.name}`} columns={[
        { title: say("source"), head: true, cell: (row) => row.plugin },
        { title: say("quota"), cell: (row) => row.name },
        { title: say("used"), number: true, cell: (row) => number(row.used) },
        { title: say("limit"), number: true, cell: (row) => number(row.limit) },
        { title: say("window"), cell: (row) => row.window },
        { title: say("tenantsOf"), number: true, cell: (row) => number(row.tenants) },
        { title: say("renews"), cell: (row) => when(row.renewsAt) },
      ]} />
      <List title={say("ends")} empty={say("noEnds")} rows={of.ends} id={(row) => `${row.plugin} ${row.cause}`} columns={[
        { title: say("plugin"), head: true, cell: (row) => row.plugin },
        { title: say("cause"), cell: (row) => <Badge tone={row.cause === "ok" ? "good" : "warn"}>{row.cause}</Badge> },
        { title: say("calls"), number: true, cell: (row) => number(row.calls) },
      ]} />
      <List title={say("plugins")} empty={say("none")} rows={of.plugins} id={(row) => row.id} columns={[
        { title: say("plugin"), head: true, cell: (row) => row.id },
        { title: say("kind"), cell: (row) => row.kind },
        { title: say("version"), cell: (row) => row.version },
        { title: say("origin"), cell: (row) => say(row.builtin ? "builtin" : "external") },
        { title: say("state"), cell: (row) => <Badge tone={pluginTones[row.state] ?? "plain"}>{row.state}</Badge> },
        { title: say("connection"), cell: (row) => (row.checks && row.state === "ready" ? <Connection of={row.id} /> : say("none")) },
      ]} />
      <Settings of={of} />
    </>
  );
}

function Page() {
  const signedIn = state.value === "in";
  useEffect(() => {
    if (signedIn) return follow();
    return undefined;
  }, [signedIn]);
  return (
    <div class="body">
      <main id="main" tabIndex={-1}>
        <PageHead title={say("title")} lead={say("lead")}>{signedIn && <Button kind="quiet" onClick={leave}>{say("leave")}</Button>}</PageHead>
        <div role="status">{away.value && <p class="notice bad">{say("away")}</p>}</div>
        {!signedIn && (
          <Card title={say("out")}>
            {state.value === "refused" && <p class="notice warn" role="alert">{say("refused")}</p>}
            <p>{say("outText")}</p>
            <p class="secret"><code>scrollery console</code></p>
          </Card>
        )}
        {signedIn && (overview.value ? <Now of={overview.value} /> : <p role="status">{say("loading")}</p>)}
      </main>
    </div>
  );
}

applyPreferences();
language.value = preferred;
const code = takeCode();
const root = document.getElementById("app");
const show = () => root && render(<Page />, root);
void (code ? enter(code) : Promise.resolve()).then(show);
