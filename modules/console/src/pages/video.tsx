// One video: its readings beside those of its peers, and its score step by step.
import { useQuery } from "../api/query";
import { api } from "../api/client";
import type { GetVideoResponse, Observation } from "../../gen/scrollery/v1/library_history_pb";
import type { OutlierExplanation } from "../../gen/scrollery/v1/library_explain_pb";
import { compact, dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Lines, type Line } from "../ui/lines";
import { PlayHere } from "../ui/play";
import { Back, Badge, Card, Copy, PageHead, Quote } from "../ui/parts";
import { Empty, Show } from "../ui/states";
import { Table } from "../ui/table";
import { Byline, nameOf, nameless, textOf } from "../ui/video";
import { visualOf } from "./hooks-parts";
import { VideoActions } from "./video-actions";
import { Peers, Steps } from "./video-score";

/** Peers whose readings are drawn. Each is one more read. */
const drawnPeers = 6;
const hour = 3_600_000;
const day = 24 * hour;

export function VideoPage({ id, back }: { id: string; back: "outliers" | "library" }) {
  const found = useQuery(async (signal) => {
    const [video, explained] = await Promise.all([api.library.getVideo({ id }, { signal }), api.library.explainOutlier({ videoId: id }, { signal })]);
    return { video, explanation: explained.explanation };
  }, [id]);
  return (
    <>
      <Back href={to(back)}>{t(back === "outliers" ? "nav.outliers" : "nav.library")}</Back>
      <Show of={found} lines={8}>
        {({ video, explanation }) => video.video
          ? <Found video={video} explanation={explanation} reload={found.reload} />
          : <><PageHead title={t("video.missing")} /><Empty title={t("video.missing")} text={t("video.missingText")} /></>}
      </Show>
    </>
  );
}

function Found({ video: { video, hook }, explanation, reload }: { video: GetVideoResponse; explanation: OutlierExplanation | undefined; reload: () => void }) {
  if (!video) return null;
  const name = nameOf(video);
  const by = video.source?.handle ? `@${video.source.handle.replace(/^@/, "").slice(0, 80)}` : "";
  const visual = hook ? visualOf(hook.visual) : "";
  const openings: [string, string][] = [[t("hooks.spoken"), hook?.spoken ?? ""], [t("hooks.screen"), hook?.onScreenText ?? ""], [t("hooks.seen"), visual]];
  const said = openings.filter(([, text]) => text);
  return (
    <>
      <PageHead title={name.length > 120 ? `${name.slice(0, 120)}…` : name} />
      <div class="row"><Byline video={video} />{explanation?.archived && <Badge tone="warn">{t("video.archived")}</Badge>}</div>
      <dl class="figures">
        {explanation && explanation.twiceBaseline > 0 && <div><dt>{t("outliers.score")}</dt><dd class="figure">{number(explanation.score, 1)}×</dd></div>}
        {(["views", "likes", "comments", "shares", "saves"] as const).map((count) => {
          const value = video.metrics?.[count];
          return value === undefined ? null : <div key={count}><dt>{t(`count.${count}`)}</dt><dd class="figure">{compact(value)}</dd></div>;
        })}
      </dl>
      <Frames id={video.id} />
      <PlayHere video={video} />
      <VideoActions video={video} archived={explanation?.archived ?? false} done={reload} />
      <Readings id={video.id} postedAt={video.postedAt} name={name} by={by} explanation={explanation} />
      {explanation && <Steps explanation={explanation} />}
      {explanation && <Peers explanation={explanation} by={by} />}
      {said.length > 0 && (
        <Card title={t("video.opening")} aside={<Copy text={said.map(([, text]) => text).join("\n")} />}>
          <dl class="said">{said.map(([title, text]) => <div key={title}><dt>{title}</dt><dd><Quote text={text} lines={6} /></dd></div>)}</dl>
        </Card>
      )}
      {textOf(video.metadata, "caption") && <Card title={t("video.caption")}><Quote text={textOf(video.metadata, "caption")} lines={6} /></Card>}
    </>
  );
}

/** What an evidence stage looked at. The bytes are a stranger's: they are a picture and nothing else. */
function Frames({ id }: { id: string }) {
  const { data } = useQuery((signal) => api.library.getFrames({ videoId: id }, { signal }), [id]);
  if (!data?.frames.length) return null;
  return (
    <div class="row">
      {data.frames.map(({ at, webp }) => <img key={at} src={`data:image/webp;base64,${webp}`} alt={t("video.frame", { s: number(at / 1000) })} height="200" />)}
    </div>
  );
}

function counted(reading: Observation, name: "views" | "likes" | "comments"): string {
  const value = reading[name];
  return value === undefined ? "–" : number(value);
}

type ReadingsProps = { id: string; postedAt: number | undefined; name: string; by: string; explanation: OutlierExplanation | undefined };

function Readings({ id, postedAt, name, by, explanation }: ReadingsProps) {
  const peers = (explanation?.basis === "creator" ? explanation.peers : explanation?.niche)?.videos.filter((peer) => peer.reason === "used").slice(0, drawnPeers) ?? [];
  const read = useQuery((signal) => Promise.all([id, ...peers.map((peer) => peer.videoId)].map(async (videoId) => {
    const page = await api.library.listObservations({ videoId, limit: 100 }, { signal });
    return { videoId, readings: page.observations, more: Boolean(page.nextPageToken) };
  })), [id, explanation?.target?.observedAt]);
  return (
    <Card title={t("video.readings")}>
      <Show of={read} lines={6}>
        {([own, ...others]) => {
          const readings = own?.readings ?? [];
          const span = (readings[0]?.observedAt ?? 0) - (readings.at(-1)?.observedAt ?? 0);
          const byAge = span > hour && postedAt !== undefined;
          const line = (videoId: string, title: string, posted: number | undefined, of: typeof readings): Line => ({
            id: videoId, name: title, faint: videoId !== id,
            points: of.flatMap((one) => (one.views === undefined || (byAge && posted === undefined) ? [] : [{ x: byAge ? (one.observedAt - (posted ?? 0)) / day : one.observedAt, y: one.views }])),
          });
          const lines = [line(id, name.slice(0, 60), postedAt, readings), ...others.map((one) => {
            const peer = peers.find((peer) => peer.videoId === one.videoId);
            return line(one.videoId, nameless((explanation?.basis === "creator" && by) || word("platform", peer?.kind ?? ""), peer?.postedAt), peer?.postedAt, one.readings);
          })];
          if (readings.length === 0) return <Empty title={t("video.noReadings")} />;
          const [last, first] = [readings[0], readings.at(-1)];
          const summary = t("video.readingsSummary", { n: readings.length, first: first?.views === undefined ? "–" : compact(first.views), last: last?.views === undefined ? "–" : compact(last.views) });
          return (
            <>
              {lines.some(({ points }) => points.length > 1)
                ? <Lines title={t("video.readings")} lines={lines} x={byAge ? "days" : "time"} yTitle={t("outliers.views")} summary={summary} />
                : <p class="summary">{summary} {t("video.once")}</p>}
              <details class="twin">
                <summary>{t("video.allReadings")}</summary>
                <Table
                  caption={t("video.readings")} rows={readings} id={(one) => String(one.observedAt)}
                  columns={[
                    { title: t("plot.time"), head: true, cell: (one) => dateTime(one.observedAt) },
                    { title: t("count.views"), number: true, cell: (one) => counted(one, "views") },
                    { title: t("count.likes"), number: true, cell: (one) => counted(one, "likes") },
                    { title: t("count.comments"), number: true, cell: (one) => counted(one, "comments") },
                    { title: t("table.use"), cell: (one) => <Badge tone={one.usable ? "good" : "warn"}>{word("reason", one.reason || "used")}</Badge> },
                  ]}
                />
                {own?.more && <p class="muted">{t("video.newestReadings", { n: readings.length })}</p>}
              </details>
            </>
          );
        }}
      </Show>
    </Card>
  );
}
