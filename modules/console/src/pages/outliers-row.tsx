// An outlier in a list: its score, what it is called, and what the score is made of.
import type { Outlier } from "../../gen/scrollery/v1/library_pb";
import { compact, number } from "../i18n/format";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { Link } from "../ui/parts";
import { Save } from "../ui/save";
import { Choose, type Selection } from "../ui/select";
import { Byline, Name, nameOf } from "../ui/video";

const count = (value: number | undefined) => (value === undefined ? "–" : compact(value));

export function Row({ outlier, selection }: { outlier: Outlier; selection?: Selection }) {
  const { video } = outlier;
  if (!video) return null;
  return (
    <li>
      <p class="score"><span class="figure">{number(outlier.score, outlier.score < 10 ? 1 : 0)}×</span></p>
      <div class="ranked-body">
        <Link class="name" href={to("outliers", video.id)}><Name video={video} /></Link>
        <Byline video={video} />
        <p class="muted">{t("outliers.point", { score: number(outlier.score, 1), views: count(video.metrics?.views), baseline: count(outlier.baselineViews), n: outlier.sampleCount })}</p>
        {outlier.early && <p class="muted">{t("outliers.early", { n: outlier.early.ownVideos, low: count(outlier.early.low), high: count(outlier.early.high) })}</p>}
        <div class="row tight"><Save videos={[video.id]} name={nameOf(video)} />{selection && <Choose video={video} of={selection} />}</div>
      </div>
    </li>
  );
}
