// The inside of the dialog of clients: switching to one, and adding, naming and removing one.
// Another client gets another document, see workFor: nothing of one is left for the next.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../api/query";
import { accountScopes, clients, nameClient, readScopes, researchScopes, session, workFor, type Session } from "../api/session";
import { addClient, removeClient, signOut } from "../api/signin";
import { time } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, query, segments, to } from "../shell/router";
import { Input } from "../ui/input";
import { KeyForm } from "../ui/keyform";
import { answers } from "../ui/lazy";
import { Button, Field } from "../ui/parts";
import { ProblemView } from "../ui/states";

/** This page for another client: without the ids and the filters, which are of this one. A report keeps its dates. */
function samePage(): string {
  const [first = "", part] = segments.value;
  if (first === "creators") return to("library");
  if (first === "report") return `${to("report")}?${query.value.toString()}`;
  return first === "account" && part ? to(first, part) : first ? to(first) : to();
}

const nameOf = ({ name }: Session) => name || t("clients.unnamed");

export function Clients({ close }: { close: () => void }) {
  const [part, setPart] = useState<"list" | "add" | "name">("list");
  const current = session.value;
  const choose = useAction(async (next: Session) => {
    if (!(await answers())) throw new TypeError("offline"); // the document could not be loaded
    workFor(next, samePage());
  });
  const remove = useAction(async () => {
    const next = clients.value.find(({ account }) => account !== current?.account);
    if (next) return removeClient(next, to());
    await signOut();
    close();
    navigate(to());
  });
  if (part === "add") return <Add back={() => setPart("list")} />;
  if (part === "name" && current) return <Rename client={current} back={() => setPart("list")} />;
  return (
    <Focused>
      <ul class="choose client-list">
        {clients.value.map((one) => (
          <li key={one.account}>
            {one.account === current?.account
              ? <p class="button current" aria-current="true"><bdi>{nameOf(one)}</bdi></p>
              : <Button busy={choose.busy} onClick={() => void choose.run(one)}><bdi>{nameOf(one)}</bdi></Button>}
            <small>{one.account === current?.account ? t("clients.here") : one.expiresAt > Date.now() ? t("clients.until", { at: time(one.expiresAt) }) : t("clients.over")}</small>
          </li>
        ))}
      </ul>
      {(choose.problem ?? remove.problem) && <ProblemView problem={(choose.problem ?? remove.problem)!} />}
      <div class="row">
        <Button kind="primary" onClick={() => setPart("add")}>{t("clients.add")}</Button>
        {current && <Button kind="quiet" onClick={() => setPart("name")}>{t("clients.rename")}</Button>}
        {current && <Button kind="quiet" busy={remove.busy} onClick={() => void remove.run()}>{t("clients.remove")}</Button>}
        <Button kind="quiet" onClick={close}>{t("save.close")}</Button>
      </div>
      <p class="hint">{t("clients.kept")}</p>
    </Focused>
  );
}

/** A part of the dialog. Its first control takes the focus: what had it is gone. */
function Focused({ children }: { children: ComponentChildren }) {
  const here = useRef<HTMLDivElement>(null);
  // At once: what is typed next must not land in another field than it was meant for.
  useLayoutEffect(() => here.current?.querySelector<HTMLElement>("input, button")?.focus(), []);
  return <div ref={here} class="stack">{children}</div>;
}

function Add({ back }: { back: () => void }) {
  const [name, setName] = useState("");
  const [changes, setChanges] = useState(false);
  const scopes = changes ? [...readScopes, ...researchScopes, ...accountScopes] : readScopes;
  return (
    <Focused>
      <Field label={t("clients.name")} hint={t("clients.nameHint")}>{(ids) => <Input value={name} onText={setName} maxLength={60} {...ids} />}</Field>
      <KeyForm submit={t("clients.addGo")} use={(key) => addClient(key, scopes, name, samePage())} choice={
        <label class="choice">
          <input type="checkbox" checked={changes} onChange={(event) => setChanges(event.currentTarget.checked)} />
          <span>{t("welcome.changes")}</span>
        </label>
      }>
        <Button kind="quiet" onClick={back}>{t("state.cancel")}</Button>
      </KeyForm>
    </Focused>
  );
}

function Rename({ client, back }: { client: Session; back: () => void }) {
  const [name, setName] = useState(client.name);
  const save = () => {
    nameClient(client.account, name);
    announce(t("clients.named", { name: session.value?.name ?? "" }));
    back();
  };
  return (
    <Focused>
      <form onSubmit={(event) => { event.preventDefault(); save(); }}>
        <Field label={t("clients.name")}>{(ids) => <Input value={name} onText={setName} required maxLength={60} {...ids} />}</Field>
        <div class="row">
          <Button type="submit" kind="primary" disabled={!name.trim()}>{t("clients.nameGo")}</Button>
          <Button kind="quiet" onClick={back}>{t("state.cancel")}</Button>
        </div>
      </form>
    </Focused>
  );
}
