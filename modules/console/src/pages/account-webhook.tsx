// One webhook: its deliveries, with sending one again, and what can be done with it.
import { useState } from "preact/hooks";
import type { Delivery, Webhook } from "../../gen/scrollery/v1/webhooks_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, usePages, useQuery } from "../api/query";
import { accountScopes } from "../api/session";
import { dateTime, number, relative } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, to } from "../shell/router";
import { Dialog } from "../ui/dialog";
import { Badge, Button, Card, Link } from "../ui/parts";
import { Empty, ProblemView, Show, ShowPages } from "../ui/states";
import { Table } from "../ui/table";
import { Secret, webhookTones } from "./account-webhooks";

const pageSize = 25;

export function OneWebhook({ id }: { id: string }) {
  const hook = useQuery(async (signal) => (await more.webhooks.listWebhooks({}, { signal })).webhooks.find((one) => one.id === id) ?? null, [id]);
  const deliveries = usePages(async (pageToken, signal) => {
    const page = await more.webhooks.listDeliveries({ id, pageSize, pageToken }, { signal });
    return { items: page.deliveries, next: page.nextPageToken };
  }, [id]);
  return (
    <>
      <p><Link href={to("account", "webhooks")}>{t("webhooks.back")}</Link></p>
      <Show of={hook}>
        {(found) => !found ? <Empty title={t("problem.not_found")} /> : <Actions hook={found} changed={() => { hook.reload(); deliveries.reload(); }} />}
      </Show>
      <Card title={t("deliveries.title")}>
        <ShowPages of={deliveries} empty={<Empty title={t("deliveries.none")} text={t("deliveries.noneText")} />}>
          {(items) => (
            <Table caption={t("deliveries.title")} rows={items} id={(one) => one.id} columns={[
              { title: t("usage.when"), cell: (one) => dateTime(one.at) },
              { title: t("deliveries.type"), head: true, cell: (one) => <code>{one.type}</code> },
              { title: t("deliveries.outcome"), cell: (one) => <Badge tone={one.outcome === "delivered" ? "good" : "bad"}>{word("delivery", one.outcome)}</Badge> },
              { title: t("deliveries.status"), number: true, cell: (one) => one.statusCode ?? "–" },
              { title: t("deliveries.attempt"), number: true, cell: (one) => one.attempt },
              { title: t("deliveries.took"), number: true, cell: (one) => `${number(one.tookMs)} ms` },
              { title: t("keys.action"), cell: (one) => one.type !== "webhook.test" && <Again hook={id} delivery={one} done={deliveries.reload} /> },
            ]} />
          )}
        </ShowPages>
      </Card>
    </>
  );
}

function Again({ hook, delivery, done }: { hook: string; delivery: Delivery; done: () => void }) {
  const send = useAction(async () => {
    if (!(await allow(accountScopes))) return;
    const { delivery: sent } = await more.webhooks.redeliver({ id: hook, changeId: delivery.messageId });
    announce(word("delivery", sent?.outcome ?? "expired"));
    done();
  });
  return (
    <>
      <Button busy={send.busy} onClick={() => void send.run()}>{t("deliveries.again")}</Button>
      {send.problem && <ProblemView problem={send.problem} />}
    </>
  );
}

function Actions({ hook, changed }: { hook: Webhook; changed: () => void }) {
  const [secret, setSecret] = useState("");
  const [removing, setRemoving] = useState(false);
  const act = useAction(async (what: "pause" | "test" | "rotate" | "delete") => {
    if (!(await allow(accountScopes))) return;
    const id = hook.id;
    if (what === "pause") await more.webhooks.updateWebhook({ id, paused: hook.status === "active" });
    if (what === "rotate") setSecret((await more.webhooks.rotateWebhookSecret({ id })).secret ?? "");
    if (what === "test") {
      const { delivery } = await more.webhooks.testWebhook({ id });
      announce(word("delivery", delivery?.outcome ?? "expired"));
    }
    if (what === "delete") {
      await more.webhooks.deleteWebhook({ id });
      navigate(to("account", "webhooks"));
      return;
    }
    changed();
  });
  return (
    <Card title={t("webhooks.one")} aside={<Badge tone={webhookTones[hook.status] ?? "plain"}>{word("webhook", hook.status)}</Badge>}>
      <p class="address"><bdi>{hook.url}</bdi></p>
      <p>{hook.types.includes("*") ? t("webhooks.all") : hook.types.map((type) => <code key={type} class="chip">{type}</code>)}</p>
      {hook.failures > 0 && hook.nextAttemptAt && <p class="notice warn">{t("webhooks.failing", { n: hook.failures, when: relative(hook.nextAttemptAt) })}</p>}
      {act.problem && <ProblemView problem={act.problem} />}
      {secret && <Secret text={secret} />}
      <div class="row">
        <Button busy={act.busy} onClick={() => void act.run("test")}>{t("webhooks.test")}</Button>
        <Button busy={act.busy} onClick={() => void act.run("pause")}>{t(hook.status === "active" ? "webhooks.pause" : "webhooks.resume")}</Button>
        <Button busy={act.busy} onClick={() => void act.run("rotate")}>{t("webhooks.rotate")}</Button>
        <Button kind="danger" onClick={() => setRemoving(true)}>{t("webhooks.delete")}</Button>
      </div>
      {removing && (
        <Dialog title={t("webhooks.delete")} onClose={() => setRemoving(false)}>
          <p>{t("webhooks.deleteText")}</p>
          <div class="row">
            <Button kind="danger" busy={act.busy} onClick={() => void act.run("delete")}>{t("webhooks.delete")}</Button>
            <Button kind="quiet" onClick={() => setRemoving(false)}>{t("ask.decline")}</Button>
          </div>
        </Dialog>
      )}
    </Card>
  );
}
