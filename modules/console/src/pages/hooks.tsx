// Hooks: a wall of cards with what is said, written and seen in the first seconds.
import type { Hook } from "../../gen/scrollery/v1/library_pb";
import { api } from "../api/client";
import { usePages } from "../api/query";
import { compact } from "../i18n/format";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { CheckFilter, ChoiceFilter, Filters, InputFilter, Order, filter, platforms } from "../ui/filters";
import { Badge, Copy, Link, PageHead, Quote } from "../ui/parts";
import { Save } from "../ui/save";
import { Empty, ShowPages } from "../ui/states";
import { Byline, nameOf } from "../ui/video";
import { grouped, patterns, patternsOf, visualOf } from "./hooks-parts";

const names = ["q", "platform", "pattern", "archived"];

export function Hooks() {
  const [q, platform, pattern, archived] = [filter("q"), filter("platform"), filter("pattern"), filter("archived")];
  const order = filter("order") === "score" ? "score" : "newest";
  const list = usePages(async (pageToken, signal) => {
    const page = await api.library.listHooks({ q, platform, order, includeArchived: archived === "1" || undefined, limit: 25, pageToken }, { signal });
    return { items: page.hooks, next: page.nextPageToken };
  }, [q, platform, archived, order], "hooks");
  return (
    <>
      <PageHead title={t("nav.hooks")} lead={t("hooks.lead")} />
      <Filters names={names}>
        <InputFilter name="q" label={t("filter.search")} />
        <ChoiceFilter name="platform" label={t("filter.platform")} values={platforms} prefix="platform" />
        <ChoiceFilter name="pattern" label={t("hooks.pattern")} values={[...patterns]} prefix="pattern" />
        <CheckFilter name="archived" label={t("filter.archived")} />
      </Filters>
      <ShowPages of={list} lines={8} empty={<Empty title={t("hooks.none")} text={t(names.some((name) => filter(name)) ? "filter.none" : "hooks.noneText")}>{!names.some((name) => filter(name)) && <Link class="button" href={to("scroll")}>{t("scroll.start")}</Link>}</Empty>}>
        {(items) => {
          const kept = pattern ? items.filter((hook) => (patternsOf(hook) as string[]).includes(pattern)) : items;
          return (
            <>
              <div class="row between">
                <p class="muted" role="status">{t("hooks.shown", { n: kept.length, of: items.length })}</p>
                <Order values={["newest", "score"]} prefix="hookOrder" />
                {kept.length > 0 && <Copy text={kept.map(plain).join("\n\n")} label={t("hooks.copyAll")} />}
              </div>
              {kept.length === 0
                ? <Empty title={t("hooks.none")} text={t("hooks.noPattern")} />
                : <ul class="wall">{grouped(kept).map((group) => <Group key={group[0]?.video?.id} group={group} />)}</ul>}
            </>
          );
        }}
      </ShowPages>
    </>
  );
}

/** A hook as text, for a document or a message. */
function plain(hook: Hook): string {
  const lines = [[t("hooks.spoken"), hook.spoken], [t("hooks.screen"), hook.onScreenText], [t("hooks.seen"), visualOf(hook.visual)]]
    .filter(([, text]) => text).map(([title, text]) => `${title}: ${text}`);
  if (hook.video?.source?.handle) lines.push(`@${hook.video.source.handle.replace(/^@/, "")} · ${hook.video.platform}`);
  return lines.join("\n");
}

function Group({ group }: { group: Hook[] }) {
  const [first, ...others] = group;
  if (!first?.video) return null;
  return (
    <li class="card hook">
      <Evidence hook={first} />
      {others.length > 0 && (
        <details class="twin">
          <summary>{t("hooks.similar", { n: others.length })}</summary>
          <ul class="similar">
            {others.map((hook) => hook.video && (
              <li key={hook.video.id}>
                <Link href={to("outliers", hook.video.id)}><Quote text={hook.spoken || hook.onScreenText || hook.video.id} lines={2} /></Link>
                <Byline video={hook.video} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function Evidence({ hook }: { hook: Hook }) {
  const { video } = hook;
  if (!video) return null;
  const seen = visualOf(hook.visual);
  const found = patternsOf(hook);
  const views = video.metrics?.views;
  return (
    <>
      {found.length > 0 && <p class="row tight">{found.map((pattern) => <Badge key={pattern} tone="info">{t(`pattern.${pattern}`)}</Badge>)}</p>}
      {hook.spoken && <figure class="spoken"><figcaption>{t("hooks.spoken")}</figcaption><blockquote><Quote text={hook.spoken} lines={6} /></blockquote></figure>}
      {hook.onScreenText && <figure class="on-screen"><figcaption>{t("hooks.screen")}</figcaption><Quote text={hook.onScreenText} lines={3} /></figure>}
      {seen && <figure><figcaption>{t("hooks.seen")}</figcaption><Quote text={seen} lines={3} /></figure>}
      <div class="hook-foot">
        <Byline video={video} />
        {views !== undefined && <p class="muted">{t("hooks.views", { views: compact(views) })}</p>}
        <div class="row">
          <Save videos={[video.id]} name={nameOf(video)} />
          <Copy text={plain(hook)} label={t("hooks.copy")} />
          <Link data-key="o" href={to("outliers", video.id)}>{t("hooks.why")}</Link>
        </div>
      </div>
    </>
  );
}
