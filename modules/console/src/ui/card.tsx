// A video as a card, drawn from what is known of it: no picture of it is loaded.
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { compact, times } from "../i18n/format";
import { t, word } from "../i18n/t";
import { query, setQuery, to } from "../shell/router";
import { Button, Link } from "./parts";
import { Save } from "./save";
import { Choose, type Selection } from "./select";
import { nameOf, textOf } from "./video";

/** Whether a list is shown as a grid of cards: it is in the address, as filters are. */
export const asGrid = () => query.value.get("view") === "grid";

export function ViewSwitch() {
  const grid = asGrid();
  const show = (view: string | undefined) => () => setQuery({ view });
  return (
    <div class="row tight nowrap views" role="group" aria-label={t("view.label")}>
      <Button kind={grid ? "quiet" : undefined} aria-pressed={!grid} onClick={show(undefined)}>{t("view.list")}</Button>
      <Button kind={grid ? undefined : "quiet"} aria-pressed={grid} onClick={show("grid")}>{t("view.grid")}</Button>
    </div>
  );
}

/** Minutes and seconds of a length, "0:42". */
function lengthOf(video: Video): string {
  const value = video.metadata?.durationSeconds;
  if (typeof value !== "number" || !(value > 0)) return "";
  const seconds = Math.round(value);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export type Carded = {
  video: Video;
  /** Undefined where the video has none. */
  score?: number;
  /** What stands on the screen in the first seconds, if it is known. */
  onScreen?: string;
  /** The page that the card opens. */
  page: "outliers" | "library";
};

export function Grid({ items, selection }: { items: Carded[]; selection: Selection }) {
  return <ul class="grid">{items.map((item) => <li key={item.video.id}><VideoCard {...item} /><Choose video={item.video} of={selection} /><Save small videos={[item.video.id]} name={nameOf(item.video)} /></li>)}</ul>;
}

function VideoCard({ video, score, onScreen, page }: Carded) {
  const name = nameOf(video);
  const length = lengthOf(video);
  const views = video.metrics?.views;
  const handle = video.source?.handle?.replace(/^@/, "").slice(0, 80);
  return (
    <Link class={`video-card ${video.platform}`} href={to(page, video.id)}>
      <span class="frame-9-16">
        <span class="row spread nowrap"><span class="platform-mark">{word("platform", video.platform)}</span>{length && <span class="length">{length}</span>}</span>
        <bdi class="card-text">{(onScreen || textOf(video.metadata, "title") || name).slice(0, 200)}</bdi>
        <span class="row spread">
          {score !== undefined ? <span class="card-score">{times(score)}</span> : <span />}
          <span>{views === undefined ? "–" : t("card.views", { views: compact(views) })}</span>
        </span>
      </span>
      <bdi class="card-name">{name.slice(0, 160)}</bdi>
      {handle && <bdi class="muted small">@{handle}</bdi>}
    </Link>
  );
}
