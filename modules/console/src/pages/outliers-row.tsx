// An outlier in a list: its score, what it is called, and what the score is made of.
import { useState } from "preact/hooks";
import type { Outlier } from "../../gen/scrollery/v1/library_pb";
import { compact, times } from "../i18n/format";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Button, Link } from "../ui/parts";
import { Save } from "../ui/save";
import { Choose, type Selection } from "../ui/select";
import { ProblemView } from "../ui/states";
import { Byline, Name, nameOf } from "../ui/video";
import { useArchive } from "./video-actions";

const count = (value: number | undefined) => (value === undefined ? "–" : compact(value));

/** `selection`: the row is one of a list in which videos are chosen and archived. `rising`: the list is in the order of what they will have. */
export function Row({ outlier, selection, rising }: { outlier: Outlier; selection?: Selection; rising?: boolean }) {
  const { video } = outlier;
  const [archived, setArchived] = useState<boolean | undefined>(undefined);
  const archive = useArchive((_, now) => setArchived(now));
  if (!video) return null;
  const name = nameOf(video);
  return (
    <li class={archived ? "archived" : undefined}>
      {selection ? <Choose video={video} of={selection} /> : <span />}
      <p class={outlier.doubtful ? "score doubtful" : "score"}><span class="figure">{times(outlier.score)}</span></p>
      <div class="ranked-body">
        <Link class="name" href={to("outliers", video.id)}><Name video={video} /></Link>
        <Byline video={video} />
        <p class="muted">{t("outliers.against", { views: count(video.metrics?.views), baseline: count(outlier.baselineViews), n: outlier.sampleCount })}</p>
        {rising && outlier.sevenDayViews !== undefined && <p class="muted">{t("outliers.toSeven", { views: compact(outlier.sevenDayViews) })}</p>}
        {outlier.doubtful && <Badge tone="warn">{t("outliers.doubtful")}</Badge>}
        {outlier.early && <p class="muted">{t("outliers.early", { n: outlier.early.ownVideos, low: count(outlier.early.low), high: count(outlier.early.high) })}</p>}
        {archive.problem && <ProblemView problem={archive.problem} />}
      </div>
      <div class="ranked-do">
        <Save videos={[video.id]} name={name} />
        {selection && <Button kind={archived ? undefined : "quiet"} data-key="e" busy={archive.busy} aria-label={`${t(archived ? "video.restore" : "video.archive")}: ${name.slice(0, 60)}`} onClick={() => void archive.run(video, !archived)}>{t(archived ? "video.restore" : "video.archive")}</Button>}
      </div>
    </li>
  );
}
