// One account: what it has, and what an operator may change of it.
import { useEffect, useState } from "preact/hooks";
import { dateTime } from "../i18n/format";
import { Input } from "../ui/input";
import { Badge, Button, Card, Field } from "../ui/parts";
import { Table } from "../ui/table";
import { chosen, order, type Account, type Key } from "./read";
import { say } from "./texts";

const plans = ["standard", "pro", "none"];

function Figures({ of }: { of: Account }) {
  return (
    <dl class="figures">
      <div><dt>{say("plan")}</dt><dd>{of.plan || say("none")} {of.interval}</dd></div>
      <div><dt>{say("state")}</dt><dd>{of.blockedAt ? <Badge tone="bad">{say("blockedSince", { when: dateTime(of.blockedAt) })}</Badge> : <Badge>{of.status}</Badge>}</dd></div>
      <div><dt>{say("ownLimits")}</dt><dd>{of.limits ? <code>{of.limits}</code> : say("none")}</dd></div>
      <div><dt>{say("credits")}</dt><dd>{say("creditsOwed", { n: of.credits, owed: of.owed })}</dd></div>
      <div><dt>{say("begun")}</dt><dd>{dateTime(of.createdAt)}</dd></div>
      {of.leavesAt > 0 && <div><dt>{say("leaves")}</dt><dd><Badge tone="bad">{dateTime(of.leavesAt)}</Badge></dd></div>}
    </dl>
  );
}

type Act = (todo: string, values?: string[]) => void;

function Changes({ of, busy, act }: { of: Account; busy: boolean; act: Act }) {
  const [limits, setLimits] = useState("");
  const [plan, setPlan] = useState("standard");
  const [move, setMove] = useState("grant");
  const [credits, setCredits] = useState("");
  const [reference, setReference] = useState("");
  const send = (event: Event, todo: string, values: string[]) => {
    event.preventDefault();
    act(todo, values);
  };
  return (
    <>
      <form class="row" onSubmit={(event) => send(event, "limits", limits.split(/\s+/).filter(Boolean))}>
        <Field label={say("changeLimits")} hint={say("limitsText")}>{(ids) => <Input value={limits} onText={setLimits} required maxLength={300} spellcheck={false} placeholder="daily_units=50000 max_videos=plan" {...ids} />}</Field>
        <Button type="submit" disabled={busy}>{say("setLimits")}</Button>
      </form>
      <form class="row" onSubmit={(event) => send(event, "plan", [plan])}>
        <Field label={say("changePlan")} hint={say("planText")}>{(ids) => (
          <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)} {...ids}>{plans.map((one) => <option key={one} value={one}>{one === "none" ? say("noPlan") : one}</option>)}</select>
        )}</Field>
        <Button type="submit" disabled={busy}>{say("setPlan")}</Button>
      </form>
      <form class="row" onSubmit={(event) => send(event, move, [credits.trim(), reference.trim()])}>
        <Field label={say("move")}>{(ids) => (
          <select value={move} onChange={(event) => setMove(event.currentTarget.value)} {...ids}><option value="grant">{say("grant")}</option><option value="take">{say("take")}</option></select>
        )}</Field>
        <Field label={say("amount")} hint={say("amountText")}>{(ids) => <Input value={credits} onText={setCredits} required maxLength={10} {...ids} />}</Field>
        <Field label={say("reference")} hint={say("referenceText")}>{(ids) => <Input value={reference} onText={setReference} required maxLength={100} spellcheck={false} {...ids} />}</Field>
        <Button type="submit" disabled={busy}>{say("moveCredits")}</Button>
      </form>
      <p class="muted">{say("blockText")}</p>
      {of.blockedAt ? <Button disabled={busy} onClick={() => act("lift")}>{say("lift")}</Button>
        : <Sure of={of} busy={busy} text={say("block")} sure={say("blockSure", { id: of.id })} act={() => act("block")} />}
      <p class="muted">{say("deleteText")}</p>
      {of.leavesAt ? <Button disabled={busy} onClick={() => act("keep")}>{say("keep")}</Button>
        : <Sure of={of} busy={busy} text={say("delete")} sure={say("deleteSure", { id: of.id })} act={() => act("delete")} />}
      <h3>{say("keys")}</h3>
      {of.keys?.length ? (
        <Table<Key> caption={say("keys")} rows={of.keys} id={(key) => key.id} columns={[
          { title: say("key"), head: true, cell: (key) => <code>{key.id}</code> },
          { title: say("ends_in"), cell: (key) => <code>…{key.hint}</code> },
          { title: say("kind"), cell: (key) => say(key.session ? "sessionKey" : "ownKey") },
          { title: say("begun"), cell: (key) => dateTime(key.createdAt) },
          { title: say("order"), cell: (key) => <Sure of={of} busy={busy} text={say("revoke")} sure={say("revokeSure", { hint: key.hint })} act={() => act("revoke", [key.id])} /> },
        ]} />
      ) : <p class="muted">{say("noKeys")}</p>}
    </>
  );
}

/** A button that acts when it is pressed twice. After a change of the account it asks again. */
function Sure({ of, busy, text, sure, act }: { of: Account; busy: boolean; text: string; sure: string; act: () => void }) {
  const [asked, setAsked] = useState<Account | null>(null);
  return <Button kind="danger" disabled={busy} onClick={() => (asked === of ? act() : setAsked(of))}>{asked === of ? sure : text}</Button>;
}

/** The card of the account that is named, or chosen in a list. */
export function AccountCard() {
  const [name, setName] = useState("");
  const [of, setOf] = useState<Account | null>(null);
  const [said, setSaid] = useState<Error | "done" | null>(null);
  const [busy, setBusy] = useState(false);
  const ask = async (account: string, todo = "", values: string[] = []) => {
    setBusy(true);
    const got = await order(account, todo, values);
    setBusy(false);
    setSaid(got instanceof Error ? got : todo ? "done" : null);
    if (!(got instanceof Error)) setOf(got);
    else if (!todo) setOf(null);
  };
  useEffect(() => {
    const account = chosen.value;
    if (!account) return;
    chosen.value = "";
    setName(account);
    void ask(account);
  }, [chosen.value]);
  return (
    <Card title={say("account")}>
      <form class="row" onSubmit={(event) => { event.preventDefault(); void ask(name.trim()); }}>
        <Field label={say("accountOf")}>{(ids) => <Input value={name} onText={setName} required maxLength={320} spellcheck={false} {...ids} />}</Field>
        <Button type="submit" disabled={busy}>{say("show")}</Button>
      </form>
      <div role="status">
        {said instanceof Error && <p class="notice bad">{said.message}</p>}
        {said === "done" && <p class="notice">{say("changed", { id: of?.id ?? "" })}</p>}
      </div>
      {of && <h3><code>{of.id}</code></h3>}
      {of && <Figures of={of} />}
      {of && <Changes of={of} busy={busy} act={(todo, values) => void ask(of.id, todo, values)} />}
    </Card>
  );
}
