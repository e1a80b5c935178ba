// The score of a video step by step, and the peers that were used and refused.
import type { ConsideredVideo, ConsideredVideos, OutlierExplanation } from "../../gen/scrollery/v1/library_explain_pb";
import { age, date, number, percent } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Card, Link } from "../ui/parts";
import { Long } from "../ui/twin";
import { nameless } from "../ui/video";
import { useNames } from "./names";

/** A field of a video in words, or a dash. */
function known(video: ConsideredVideo, name: "age" | "postedAt" | "views" | "expectedViews", text: (value: number) => string): string {
  const value = video[name];
  return value === undefined ? "–" : text(value);
}

const thousandths = (share: number) => percent(share / 1000);

export function Steps({ explanation: e }: { explanation: OutlierExplanation }) {
  const basis = e.basis === "creator" ? e.peers : e.niche;
  const scored = e.twiceBaseline > 0;
  const tone = e.outcome === "listed" ? "good" : "plain";
  return (
    <Card title={t("score.title")} aside={<Badge tone={tone}>{word("outcome", e.outcome)}</Badge>}>
      <ol class="reckoning">
        <li>
          <h3>{t("score.reading")}</h3>
          <p>{e.target?.reason === "used"
            ? t("score.readingText", { views: number(e.target.views ?? 0), age: known(e.target, "age", age), share: thousandths(e.target.share) })
            : t("score.readingRefused", { why: word("reason", e.target?.reason ?? "") })}</p>
        </li>
        <li>
          <h3>{t("score.peers")}</h3>
          <p>{t("score.peersText", { n: e.creatorPeers })} {e.basis === "niche" && t("score.niche")}</p>
          <p class="row tight">{[...(e.peers?.counts ?? []), ...(e.basis === "niche" ? (e.niche?.counts ?? []) : [])].map((count, i) => (
            <Badge key={i} tone={count.reason === "used" ? "good" : "plain"}>{number(count.count)} × {word("reason", count.reason)}</Badge>
          ))}</p>
        </li>
        {scored && (
          <>
            <li>
              <h3>{t("score.baseline")}</h3>
              <p>{t("score.baselineText", { n: e.sampleCount, baseline: number(e.twiceBaseline / 2, 1) })}</p>
              {e.ownViews > 0 && <p class="muted">{t("score.floor", { views: number(e.ownViews) })}</p>}
            </li>
            <li>
              <h3>{t("score.score")}</h3>
              <p class="formula">{number(e.target?.views ?? 0)} ÷ {number(e.twiceBaseline / 2, 1)} = <strong>{number(e.score, 4)}</strong></p>
            </li>
            <li>
              <h3>{t("score.order")}</h3>
              <p>{t("score.orderText", { n: e.creatorPeers, value: number(e.orderValue, 4) })}</p>
              {e.doubtful && <p class="notice warn">{t("score.doubtful")}</p>}
            </li>
          </>
        )}
        {e.early && (
          <li>
            <h3>{t("score.early")}</h3>
            <p>{t("score.earlyText", { n: e.early.ownVideos, views: number(e.early.views), low: number(e.early.low), high: number(e.early.high), creators: number(e.early.alikeCreators), alike: number(e.early.alikeViews) })}</p>
          </li>
        )}
      </ol>
      {e.pending && <p class="notice warn">{t("score.pending")}</p>}
      {!basis?.videos.length && !scored && <p class="muted">{t("score.noPeers")}</p>}
      <p class="muted small">{t("score.method", { method: e.method })}</p>
    </Card>
  );
}

export function Peers({ explanation: e, by }: { explanation: OutlierExplanation; by: string }) {
  return (
    <>
      <PeerTable title={t("peers.own")} of={e.peers} by={by} />
      {e.niche && e.niche.videos.length > 0 && <PeerTable title={t("peers.niche")} of={e.niche} />}
    </>
  );
}

/** `by`: who made all of them, if that is known. */
function PeerTable({ title, of, by = "" }: { title: string; of: ConsideredVideos | undefined; by?: string }) {
  const videos = of?.videos ?? [];
  const names = useNames(videos.map((peer) => peer.videoId));
  return (
    <Card title={title}>
      {videos.length === 0 ? <p class="muted">{t("peers.none")}</p> : (
        <Long<ConsideredVideo>
          title={title} rows={videos} id={(peer) => peer.videoId}
          columns={[
            { title: t("table.video"), head: true, cell: (peer) => <Link href={to("outliers", peer.videoId)}><bdi class="quote" data-lines={2}>{names?.get(peer.videoId) ?? nameless(by || word("platform", peer.kind), peer.postedAt)}</bdi></Link> },
            { title: t("table.use"), cell: (peer) => <Badge tone={peer.reason === "used" ? "good" : "plain"}>{word("reason", peer.reason)}</Badge> },
            { title: t("table.posted"), cell: (peer) => known(peer, "postedAt", date) },
            { title: t("count.views"), number: true, cell: (peer) => known(peer, "views", number) },
            { title: t("peers.share"), number: true, cell: (peer) => thousandths(peer.share) },
            { title: t("peers.expected"), number: true, cell: (peer) => known(peer, "expectedViews", number) },
          ]}
        />
      )}
    </Card>
  );
}
