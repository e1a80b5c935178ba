// The webhooks of the account, and a form for a new one.
import { useState } from "preact/hooks";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { accountScopes } from "../api/session";
import { dateTime } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Input } from "../ui/input";
import { Badge, Button, Card, Copy, Field, Link, type Tone } from "../ui/parts";
import { Empty, ProblemView, Show } from "../ui/states";
import { Table } from "../ui/table";

export const webhookTones: Record<string, Tone> = { active: "good", paused: "plain", failed: "bad", gone: "bad" };

/** The kinds of changes that are worth a message, in the order in which they are offered. */
const kinds = [
  "scroll.completed", "scroll.failed", "outlier.entered", "outlier.left", "trend.entered", "trend.left", "video.added", "video.gone",
  "rules.changed", "workspace.changed", "key.created", "key.revoked", "subscription.changed",
];

export function Webhooks() {
  const hooks = useQuery(async (signal) => (await more.webhooks.listWebhooks({}, { signal })).webhooks, []);
  return (
    <>
      <Card title={t("webhooks.title")}>
        <Show of={hooks}>
          {(items) => items.length === 0 ? <Empty title={t("webhooks.none")} text={t("webhooks.noneText")} /> : (
            <Table caption={t("webhooks.title")} rows={items} id={(hook) => hook.id} columns={[
              { title: t("webhooks.url"), head: true, cell: (hook) => <Link href={to("account", "webhooks", hook.id)}><bdi class="quote" data-lines={2}>{hook.url}</bdi></Link> },
              { title: t("webhooks.state"), cell: (hook) => <Badge tone={webhookTones[hook.status] ?? "plain"}>{word("webhook", hook.status)}</Badge> },
              { title: t("webhooks.types"), cell: (hook) => (hook.types.includes("*") ? t("webhooks.all") : t("webhooks.typeCount", { n: hook.types.length })) },
              { title: t("keys.created"), cell: (hook) => dateTime(hook.createdAt) },
            ]} />
          )}
        </Show>
      </Card>
      <Card title={t("webhooks.new")}><NewWebhook made={hooks.reload} /></Card>
    </>
  );
}

function NewWebhook({ made }: { made: () => void }) {
  const [url, setURL] = useState("");
  const [types, setTypes] = useState<string[]>(["scroll.completed", "scroll.failed"]);
  const [secret, setSecret] = useState("");
  const create = useAction(async () => {
    if (!(await allow(accountScopes))) return;
    const answer = await more.webhooks.createWebhook({ url: url.trim(), types });
    setSecret(answer.secret);
    setURL("");
    made();
  });
  const toggle = (kind: string, on: boolean) => setTypes((before) => (on ? [...before, kind] : before.filter((one) => one !== kind)));
  return (
    <form onSubmit={(event) => { event.preventDefault(); void create.run(); }}>
      <Field label={t("webhooks.url")} hint={t("webhooks.urlHint")}>
        {(ids) => <Input required inputMode="url" placeholder="https://" value={url} onText={setURL} maxLength={2048} {...ids} />}
      </Field>
      <fieldset>
        <legend>{t("webhooks.types")}</legend>
        <div class="options">
          {kinds.map((kind) => (
            <label key={kind} class="choice"><input type="checkbox" checked={types.includes(kind)} onChange={(event) => toggle(kind, event.currentTarget.checked)} /><span>{kind === "video.added" ? t("change.video.added") : word("change", kind)}</span></label>
          ))}
        </div>
      </fieldset>
      {create.problem && <ProblemView problem={create.problem} />}
      {secret && <Secret text={secret} />}
      <Button type="submit" kind="primary" busy={create.busy} disabled={types.length === 0}>{t("webhooks.create")}</Button>
    </form>
  );
}

/** The signing secret, shown once. */
export function Secret({ text }: { text: string }) {
  return (
    <div class="field" role="status">
      <p class="strong">{t("webhooks.secret")}</p>
      <p class="secret"><code>{text}</code></p>
      <p class="hint">{t("webhooks.secretOnce")}</p>
      <Copy text={text} />
    </div>
  );
}
