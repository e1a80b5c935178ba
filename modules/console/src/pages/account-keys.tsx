// Keys and session keys: which there are, making a session key, ending one.
import { createClient } from "@connectrpc/connect";
import { useState } from "preact/hooks";
import { KeysService, type Key } from "../../gen/scrollery/v1/keys_service_pb";
import { allow, api, transportFor } from "../api/client";
import { useAction, usePages } from "../api/query";
import { accountScopes, readScopes, researchScopes } from "../api/session";
import { dateTime } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { Dialog } from "../ui/dialog";
import { KeyForm } from "../ui/keyform";
import { Badge, Button, Card, Copy, Field } from "../ui/parts";
import { Empty, ProblemView, ShowPages } from "../ui/states";
import { Table } from "../ui/table";

const pageSize = 25;

export function Keys() {
  const [ending, setEnding] = useState<Key | null>(null);
  const [making, setMaking] = useState(false);
  const keys = usePages(async (pageToken, signal) => {
    const page = await api.keys.listKeys({ pageSize, pageToken }, { signal });
    return { items: page.keys, next: page.nextPageToken };
  }, []);
  return (
    <>
      <Card title={t("keys.title")} aside={<Button onClick={() => setMaking(true)}>{t("keys.make")}</Button>}>
        <ShowPages of={keys} empty={<Empty title={t("keys.none")} />}>
          {(items) => (
            <Table caption={t("keys.title")} rows={items} id={(key) => key.id} columns={[
              { title: t("keys.key"), head: true, cell: (key) => <><code>…{key.hint}</code> {key.current && <Badge tone="info">{t("keys.current")}</Badge>}</> },
              { title: t("keys.kind"), cell: (key) => t(key.parentId ? "keys.session" : "keys.lasting") },
              { title: t("keys.state"), cell: (key) => <Badge tone={key.active ? "good" : "plain"}>{t(key.active ? "keys.active" : "keys.ended")}</Badge> },
              { title: t("keys.scopes"), cell: (key) => <details><summary>{t("keys.scopeCount", { n: key.scopes.length })}</summary><code>{key.scopes.join(", ")}</code></details> },
              { title: t("keys.created"), cell: (key) => dateTime(key.createdAt) },
              { title: t("keys.expires"), cell: (key) => (key.expiresAt ? dateTime(key.expiresAt) : "–") },
              { title: t("keys.action"), cell: (key) => key.active && !key.current && <Button kind="danger" aria-label={t("keys.endOne", { hint: key.hint })} onClick={() => setEnding(key)}>{t("keys.end")}</Button> },
            ]} />
          )}
        </ShowPages>
      </Card>
      {ending && <End of={ending} close={(changed) => { setEnding(null); if (changed) keys.reload(); }} />}
      {making && <Make close={(changed) => { setMaking(false); if (changed) keys.reload(); }} />}
    </>
  );
}

function End({ of, close }: { of: Key; close: (changed: boolean) => void }) {
  const end = useAction(async () => {
    if (!(await allow(accountScopes))) return;
    await api.keys.revokeKey({ id: of.id });
    announce(t("keys.endedNow"));
    close(true);
  });
  return (
    <Dialog title={t("keys.endTitle", { hint: of.hint })} onClose={() => close(false)}>
      <p>{t(of.parentId ? "keys.endSessionText" : "keys.endText")}</p>
      {end.problem && <ProblemView problem={end.problem} />}
      <div class="row">
        <Button kind="danger" busy={end.busy} onClick={() => void end.run()}>{t("keys.end")}</Button>
        <Button kind="quiet" onClick={() => close(false)}>{t("ask.decline")}</Button>
      </div>
    </Dialog>
  );
}

/** What a program or an agent may do: it learns nothing of the account's own keys of sources, and makes nothing public. */
const forPrograms = (scopes: string[]) => scopes.filter((scope) => !scope.startsWith("sources:") && !scope.startsWith("shares:"));

const lives = [600, 3600, 28800, 86400] as const;

/** A session key for somewhere else. A session cannot make one, so a lasting key does. */
function Make({ close }: { close: (changed: boolean) => void }) {
  const [life, setLife] = useState<number>(lives[1]);
  const [writes, setWrites] = useState(false);
  const [made, setMade] = useState("");
  const scopes = forPrograms(writes ? [...readScopes, ...researchScopes] : readScopes);
  const make = async (key: string) => {
    const answer = await createClient(KeysService, transportFor(key.trim())).createSessionKey({ scopes, ttlSeconds: life });
    setMade(answer.apiKey);
  };
  if (made) {
    return (
      <Dialog title={t("keys.made")} onClose={() => close(true)}>
        <p class="secret"><code>{made}</code></p>
        <p class="hint">{t("keys.once")}</p>
        <div class="row"><Copy text={made} /><Button kind="primary" onClick={() => close(true)}>{t("keys.close")}</Button></div>
      </Dialog>
    );
  }
  return (
    <Dialog title={t("keys.make")} onClose={() => close(false)}>
      <p>{t("keys.makeText")}</p>
      <KeyForm submit={t("keys.makeGo")} use={make} choice={
        <>
          <Field label={t("keys.life")}>
            {(ids) => (
              <select value={life} onChange={(event) => setLife(Number(event.currentTarget.value))} {...ids}>
                {lives.map((seconds) => <option key={seconds} value={seconds}>{t(`keys.life.${seconds}`)}</option>)}
              </select>
            )}
          </Field>
          <label class="choice"><input type="checkbox" checked={writes} onChange={(event) => setWrites(event.currentTarget.checked)} /><span>{t("keys.writes")}</span></label>
        </>
      }>
        <Button kind="quiet" onClick={() => close(false)}>{t("ask.decline")}</Button>
      </KeyForm>
    </Dialog>
  );
}
