// The subscription, what is used of its budgets, and each call that used it.
import { more } from "../api/more";
import { usePages, useQuery } from "../api/query";
import { dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Card, Link, Progress, type Tone } from "../ui/parts";
import { allowPlayers, players } from "../ui/play";
import { Empty, Show, ShowPages } from "../ui/states";
import { Table } from "../ui/table";

const pageSize = 25;
const tones: Record<string, Tone> = { active: "good", past_due: "warn", cancelled: "bad", none: "plain" };

export function Usage() {
  const usage = useQuery((signal) => more.usage.getUsage({}, { signal }), []);
  const events = usePages(async (pageToken, signal) => {
    const page = await more.usage.listEvents({ limit: pageSize, pageToken }, { signal });
    return { items: page.events.map((event, i) => ({ event, id: `${pageToken ?? ""}.${i}` })), next: page.nextPageToken };
  }, []);
  return (
    <>
      <Show of={usage}>
        {(read) => (
          <div class="columns">
            <Card title={t("usage.subscription")}>
              <p class="row"><Badge tone={tones[read.status] ?? "plain"}>{word("subscription", read.status)}</Badge> {read.billingInterval && <span>{word("interval", read.billingInterval)}</span>}</p>
              <p class="muted">{t(read.active ? "usage.active" : "usage.inactive")}</p>
              {!read.active && <Link class="button primary" href={to("subscribe")}>{t("notice.subscribe")}</Link>}
            </Card>
            <Card title={t("usage.budgets")}>
              <Budget label={t("usage.today")} used={read.usage?.daily?.usedPct ?? 0} />
              <Budget label={t("usage.month")} used={read.usage?.monthly?.usedPct ?? 0} />
            </Card>
          </div>
        )}
      </Show>
      <Card title={t("play.setting")}>
        <label class="choice"><input type="checkbox" checked={players.value} onChange={(event) => allowPlayers(event.currentTarget.checked)} /><span>{t("play.settingText")}</span></label>
      </Card>
      <Card title={t("usage.events")}>
        <ShowPages of={events} empty={<Empty title={t("usage.noEvents")} />}>
          {(items) => (
            <Table caption={t("usage.events")} rows={items} id={(item) => item.id} columns={[
              { title: t("usage.when"), cell: ({ event }) => dateTime(event.ts) },
              { title: t("usage.operation"), head: true, cell: ({ event }) => <code>{event.op}</code> },
              { title: t("usage.result"), cell: ({ event }) => <Badge tone={event.status === "ok" ? "good" : "warn"}>{word("event", event.status)}</Badge> },
              { title: t("usage.cost"), number: true, cell: ({ event }) => number(event.costCents, 2) },
            ]} />
          )}
        </ShowPages>
      </Card>
    </>
  );
}

function Budget({ label, used }: { label: string; used: number }) {
  return (
    <div class="field">
      <div class="row spread"><span class="strong">{label}</span><span>{t("usage.used", { n: used })}</span></div>
      <Progress value={used} label={label} />
    </div>
  );
}
