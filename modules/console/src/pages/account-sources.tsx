// The sources and the account's own keys of them: what is missing, what one costs, setting and
// removing keys, and one real request.
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import type { SourceQuota, SourceState, TrySourceResponse } from "../../gen/scrollery/v1/sources_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { accountScopes } from "../api/session";
import { dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { Dialog } from "../ui/dialog";
import { Input } from "../ui/input";
import { Badge, Button, Card, Field, type Tone } from "../ui/parts";
import { ProblemView, Show } from "../ui/states";

const tones: Record<string, Tone> = { ready: "good", incomplete: "bad", unset: "plain", off: "plain", resting: "warn" };

export function Sources() {
  const sources = useQuery(async (signal) => (await more.sources.listSources({}, { signal })).sources, []);
  return (
    <Show of={sources}>
      {(all) => (
        <>
          <p class="lead">{t(all.some((one) => one.secrets.length > 0) ? "sources.text" : "sources.noKeys")}</p>
          {all.map((one) => <One key={one.source} of={one} changed={sources.reload} />)}
        </>
      )}
    </Show>
  );
}

function One({ of, changed }: { of: SourceState; changed: () => void }) {
  const [open, setOpen] = useState<"" | "set" | "remove">("");
  const taken = of.secrets.length > 0; // keys of accounts
  // Asked before anything is typed, so that no secret waits in a form behind the question.
  const begin = async (what: "set" | "remove") => {
    if (await allow(accountScopes)) setOpen(what);
  };
  const close = (done: boolean) => {
    setOpen("");
    if (done) changed();
  };
  return (
    <Card title={of.source} aside={<Badge tone={tones[of.state] ?? "plain"}>{word("source", of.state)}</Badge>}>
      <p>{of.summary}</p>
      {of.reason && <p class="notice">{of.reason}</p>}
      {of.own && <p>{t(taken ? "sources.own" : "sources.unused", { when: dateTime(of.updatedAt ?? 0) })} {of.secrets.filter((secret) => secret.hint).map((secret) => <code key={secret.name} class="chip">{secret.name} …{secret.hint}</code>)}</p>}
      <ul class="bullets">
        {of.quotas.map((quota) => <li key={quota.name}>{quotaText(quota)}</li>)}
        {of.requestsPerHandle !== undefined && of.quotas.length === 0 && <li>{t("sources.requests", { n: of.requestsPerHandle })}</li>}
      </ul>
      {(taken || of.own) && (
        <div class="row">
          {taken && <Button onClick={() => void begin("set")} aria-label={t(of.own ? "sources.changeOne" : "sources.setOne", { source: of.source })}>{t(of.own ? "sources.change" : "sources.set")}</Button>}
          {of.own && <Button kind="danger" onClick={() => void begin("remove")} aria-label={t("sources.removeOne", { source: of.source })}>{t("sources.remove")}</Button>}
        </div>
      )}
      {of.state === "ready" && <Try of={of} changed={changed} />}
      {open === "set" && <SetKeys of={of} close={close} />}
      {open === "remove" && <Remove of={of} close={close} />}
    </Card>
  );
}

/** What a site grants, and what a creator takes of it. */
function quotaText(quota: SourceQuota): string {
  const amount = (units: number) => (quota.money ? `$${number(units / 1_000_000, units < 1_000_000 ? 4 : 2)}` : number(units));
  const window = word("window", quota.window);
  const left = t("sources.left", { name: quota.name, left: amount(quota.left), limit: amount(quota.limit), window });
  return quota.perHandle > 0 ? `${left} ${t("sources.perHandle", { units: amount(quota.perHandle) })}` : left;
}

function SetKeys({ of, close }: { of: SourceState; close: (changed: boolean) => void }) {
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [settings, setSettings] = useState<Record<string, string>>(() => Object.fromEntries(of.settings.map((one) => [one.name, one.value ?? ""])));
  const save = useAction(async () => {
    if (!(await allow(accountScopes))) return;
    const filled = (texts: Record<string, string>) => fromJson(ValueSchema, Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim()).map(([name, text]) => [name, text.trim()])));
    await more.sources.setSource({ source: of.source, secrets: filled(secrets), settings: filled(settings) });
    announce(t("sources.saved"));
    close(true);
  });
  return (
    <Dialog title={t("sources.setTitle", { source: of.source })} onClose={() => close(false)}>
      <form autocomplete="off" onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        <p>{t("sources.setText")}</p>
        {of.secrets.map((secret) => (
          <Field key={secret.name} label={secret.name} hint={secret.set ? t("sources.keep") : undefined}>
            {(ids) => <Input type="password" required={secret.required && !secret.set} value={secrets[secret.name] ?? ""} maxLength={500} spellcheck={false} onText={(text) => setSecrets((before) => ({ ...before, [secret.name]: text }))} {...ids} />}
          </Field>
        ))}
        {of.settings.map((setting) => (
          <Field key={setting.name} label={setting.name} hint={setting.help}>
            {(ids) => <Input required={setting.required} placeholder={setting.default} value={settings[setting.name] ?? ""} maxLength={200} spellcheck={false} onText={(text) => setSettings((before) => ({ ...before, [setting.name]: text }))} {...ids} />}
          </Field>
        ))}
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="row">
          <Button type="submit" kind="primary" busy={save.busy}>{t("sources.save")}</Button>
          <Button kind="quiet" onClick={() => close(false)}>{t("ask.decline")}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ of, close }: { of: SourceState; close: (changed: boolean) => void }) {
  const remove = useAction(async () => {
    if (!(await allow(accountScopes))) return;
    await more.sources.removeSource({ source: of.source });
    announce(t("sources.removed"));
    close(true);
  });
  return (
    <Dialog title={t("sources.removeOne", { source: of.source })} onClose={() => close(false)}>
      <p>{t("sources.removeText")}</p>
      {remove.problem && <ProblemView problem={remove.problem} />}
      <div class="row">
        <Button kind="danger" busy={remove.busy} onClick={() => void remove.run()}>{t("sources.removeGo")}</Button>
        <Button kind="quiet" onClick={() => close(false)}>{t("ask.decline")}</Button>
      </div>
    </Dialog>
  );
}

function Try({ of, changed }: { of: SourceState; changed: () => void }) {
  const [seed, setSeed] = useState("");
  const [tried, setTried] = useState<TrySourceResponse | null>(null);
  const make = async (request: { source: string; seed?: string }) => {
    if (!(await allow(accountScopes))) return;
    setTried(null);
    const answer = await more.sources.trySource(request);
    setTried(answer);
    changed();
  };
  const ask = useAction(() => make({ source: of.source, seed: seed.trim() }));
  const check = useAction(() => make({ source: of.source }));
  return (
    <form onSubmit={(event) => { event.preventDefault(); void ask.run(); }}>
      <Field label={t("sources.seed", { source: of.source })}>
        {(ids) => <Input required value={seed} maxLength={200} placeholder="@name" spellcheck={false} onText={setSeed} {...ids} />}
      </Field>
      <div class="row">
        <Button type="submit" busy={ask.busy} disabled={check.busy} aria-label={t("sources.tryOne", { source: of.source })}>{t("sources.try")}</Button>
        {of.checks && <Button busy={check.busy} disabled={ask.busy} onClick={() => void check.run()} aria-label={t("sources.checkOne", { source: of.source })}>{t("sources.check")}</Button>}
      </div>
      {(ask.problem ?? check.problem) && <ProblemView problem={(ask.problem ?? check.problem)!} />}
      {tried && (
        <div class="notice" role="status">
          <p class="strong">{tried.status ? `${word("outcome", tried.status)}: ${t("sources.came", { n: tried.returned })}` : tried.checked ? <bdi>{tried.checked}</bdi> : (tried.failure ?? tried.reason ?? tried.state)}</p>
          {tried.detail && <p><bdi>{tried.detail}</bdi></p>}
          {tried.returned > 0 && <p class="hint">{tried.fields.map((field) => `${field.name} ${field.videos}`).join(", ")}</p>}
        </div>
      )}
    </form>
  );
}
