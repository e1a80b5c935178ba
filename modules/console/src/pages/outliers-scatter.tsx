// Views over baseline, a point a video, both logarithmic. What is above the line y = x did
// better than its peers. Drag to narrow the plot and the lists; a point opens its video.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListScoresResponse } from "../../gen/scrollery/v1/library_history_pb";
import { compact, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, to } from "../shell/router";
import { Plot, axis, logAxis, plotColours, type Colours, type Drawing, type uPlot, zoom } from "../ui/plot";

export type Point = { id: string; kind: string; views: number; baseline: number; score: number; peers: number; listed: boolean; doubtful: boolean; postedAt: number | undefined };

/** A part of the plot, in views. */
export type Area = { x: [number, number]; y: [number, number] };

/** The columns of the answer as points, best first. */
export function pointsOf(scores: ListScoresResponse): Point[] {
  return scores.videoId
    .map((id, i) => {
      return {
        id, kind: scores.kinds[scores.kind[i] ?? 0] ?? "", views: scores.views[i] ?? 0, baseline: scores.baselineViews[i] ?? 0,
        score: scores.score[i] ?? 0, peers: scores.sampleCount[i] ?? 0, listed: scores.listed[i] ?? false, postedAt: (scores.age[i] ?? -1) < 0 ? undefined : (scores.observedAt[i] ?? 0) - (scores.age[i] ?? 0), doubtful: scores.doubtful[i] ?? false,
      };
    })
    .sort((a, b) => b.score - a.score);
}

export const inside = (area: Area | null) => (point: Point) =>
  !area || (point.baseline >= area.x[0] && point.baseline <= area.x[1] && point.views >= area.y[0] && point.views <= area.y[1]);

const reach = 22;
/** By the number of peers, smaller where there are many points. */
const radius = (peers: number, crowd: number) => (3 + Math.min(6, Math.sqrt(peers) * 0.75)) * (crowd > 2000 ? 0.5 : crowd > 500 ? 0.7 : 1);

type Props = { points: Point[]; names: Map<string, string>; area: Area | null; onArea: (area: Area) => void; summary: string;
  /** Opens a point; its page in the console unless something else is given. */
  open?: (id: string) => void;
};

const page = (id: string) => navigate(to("outliers", id));

export function Scatter({ points, names, area, onArea, summary, open = page }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => setAt(null), [points, area]);
  const shown = points.filter(inside(area));
  const kinds = [...new Set(points.map((point) => point.kind))].sort();
  const current = at === null ? undefined : shown[at];
  const choose = (index: number) => {
    const next = Math.max(0, Math.min(shown.length - 1, index));
    setAt(next);
    const point = shown[next];
    if (point) announce(describe(point, names));
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) choose(at === null ? 0 : at + step);
    else if (event.key === "Enter" && current) open(current.id);
    else if (event.key === "Escape") setAt(null);
    else return;
    event.preventDefault();
  };
  return (
    <div class="figure-box">
      <p class="summary">{summary}</p>
      <div ref={box} class="scatter" role="application" tabIndex={0} aria-label={t("outliers.keys")} onKeyDown={keys} onBlur={() => setAt(null)}>
        <Plot
          label={t("outliers.plot")} height={440} inputs={[points, area]}
          draw={(colours) => drawing(shown, kinds, area, colours, (made) => { plot.current = made; follow(made, shown, setAt, onArea, open); })}
        />
        {current && plot.current && <Tip plot={plot.current} point={current} name={names.get(current.id)} />}
      </div>
      <ul class="legend" aria-hidden="true">
        {kinds.map((kind, i) => <li key={kind}><span class={`swatch dot plot-${(i % plotColours) + 1}`} />{word("platform", kind)}</li>)}
        <li><span class="swatch faint" />{t("outliers.line")}</li>
        <li class="muted">{t("outliers.size")}</li>
      </ul>
    </div>
  );
}

const describe = (point: Point, names: Map<string, string>) =>
  `${names.get(point.id) ?? word("platform", point.kind)}: ${t("outliers.point", { score: number(point.score, 1), views: compact(point.views), baseline: compact(point.baseline), n: point.peers })}`;

function Tip({ plot, point, name }: { plot: uPlot; point: Point; name: string | undefined }) {
  const left = plot.valToPos(point.baseline, "x") + plot.over.offsetLeft;
  const top = plot.valToPos(point.views, "y") + plot.over.offsetTop;
  const side = left > plot.width / 2 ? { right: `${plot.width - left + 14}px` } : { left: `${left + 14}px` };
  return (
    <>
      <span class="ring" style={{ left: `${left}px`, top: `${top}px` }} />
      <div class="tip" style={{ ...side, top: `${Math.max(0, top - 20)}px` }} aria-hidden="true">
        <p class="strong">{t("outliers.times", { score: number(point.score, 1) })}</p>
        {name && <p class="tip-name"><bdi>{name.slice(0, 120)}</bdi></p>}
        <p>{t("outliers.point", { score: number(point.score, 1), views: compact(point.views), baseline: compact(point.baseline), n: point.peers })}</p>
      </div>
    </>
  );
}

/** Follows the pointer: the nearest point is shown, a click opens it, a drag narrows the plot. */
function follow(plot: uPlot, points: Point[], setAt: (at: number | null) => void, onArea: (area: Area) => void, open: (id: string) => void) {
  let nearest: number | null = null;
  let pressed: { x: number; y: number } | null = null;
  plot.over.addEventListener("mousemove", (event) => {
    let least = reach * reach;
    nearest = null;
    points.forEach((point, i) => {
      const dx = plot.valToPos(point.baseline, "x") - event.offsetX;
      const dy = plot.valToPos(point.views, "y") - event.offsetY;
      if (dx * dx + dy * dy < least) {
        least = dx * dx + dy * dy;
        nearest = i;
      }
    });
    setAt(nearest);
    plot.over.style.cursor = nearest === null ? "crosshair" : "pointer";
  });
  plot.over.addEventListener("mouseleave", () => setAt(null));
  plot.over.addEventListener("mousedown", (event) => { pressed = { x: event.clientX, y: event.clientY }; });
  plot.over.addEventListener("click", (event) => {
    const still = pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 4;
    const point = nearest === null ? undefined : points[nearest];
    if (still && point) open(point.id);
  });
  (plot.hooks.setSelect ??= []).push(() => {
    const { left, top, width, height } = plot.select;
    if (width < 8 || height < 8) return;
    onArea({
      x: [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")],
      y: [plot.posToVal(top + height, "y"), plot.posToVal(top, "y")],
    });
  });
}

/** A point as an image: thousands are drawn faster so than as paths. A doubtful one has a dashed edge. */
function dot(size: number, colour: string, faded: boolean, edge: string, scale: number): HTMLCanvasElement {
  const image = document.createElement("canvas");
  image.width = image.height = Math.ceil(2 * size + 2 * scale);
  const ctx = image.getContext("2d");
  if (!ctx) return image;
  ctx.arc(image.width / 2, image.height / 2, size, 0, 2 * Math.PI);
  ctx.globalAlpha = faded ? 0.2 : 0.72;
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.globalAlpha = faded ? 0.35 : 1;
  ctx.lineWidth = scale;
  ctx.strokeStyle = edge;
  if (edge !== colour) ctx.setLineDash([2 * scale, 2 * scale]);
  ctx.stroke();
  return image;
}

function drawing(points: Point[], kinds: string[], area: Area | null, colours: Colours, ready: (plot: uPlot) => void): Drawing {
  const all = points.flatMap((point) => [Math.max(1, point.views), Math.max(1, point.baseline)]);
  const least = all.length ? all.reduce((a, b) => Math.min(a, b)) / 1.6 : 1;
  const most = all.length ? all.reduce((a, b) => Math.max(a, b)) * 1.6 : 1000;
  const groups = kinds.map((kind) => points.filter((point) => point.kind === kind));
  const dots = (u: uPlot, series: number) => {
    const { ctx } = u;
    const scale = devicePixelRatio * zoom();
    const colour = colours.series[(series - 1) % plotColours] ?? colours.accent;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    const stamps = new Map<string, HTMLCanvasElement>();
    for (const point of groups[series - 1] ?? []) {
      const faded = !point.listed;
      const size = Math.round(radius(point.peers, points.length) * 2) / 2;
      const name = `${size} ${faded} ${point.doubtful}`;
      let stamp = stamps.get(name);
      if (!stamp) stamps.set(name, stamp = dot(size * scale, colour, faded, point.doubtful ? colours.ink : colour, scale));
      const x = u.valToPos(Math.max(1, point.baseline), "x", true);
      const y = u.valToPos(Math.max(1, point.views), "y", true);
      ctx.drawImage(stamp, Math.round(x - stamp.width / 2), Math.round(y - stamp.height / 2));
    }
    ctx.restore();
    return null;
  };
  const diagonal = (u: uPlot) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    ctx.moveTo(u.valToPos(1, "x", true), u.valToPos(1, "y", true));
    ctx.lineTo(u.valToPos(1e12, "x", true), u.valToPos(1e12, "y", true));
    ctx.strokeStyle = colours.muted;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 5 * devicePixelRatio]);
    ctx.stroke();
    ctx.restore();
  };
  const range = (part: [number, number] | undefined): [number, number] => part ?? [least, most];
  const values = (_u: uPlot, splits: number[]) => splits.map((value) => compact(value));
  return {
    ready,
    data: [null, ...groups.map((group) => [group.map((point) => point.baseline), group.map((point) => point.views)])] as unknown as uPlot.AlignedData,
    options: {
      mode: 2,
      legend: { show: false },
      padding: [12, 12, 0, 0],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, setScale: false }, dataIdx: () => null as unknown as number },
      scales: { x: { time: false, distr: 3, range: () => range(area?.x) }, y: { distr: 3, range: () => range(area?.y) } },
      series: [{}, ...kinds.map(() => ({ paths: dots as unknown as uPlot.Series.PathBuilder, facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }] }))],
      axes: [axis(colours, { ...logAxis, values, label: t("outliers.baseline"), labelSize: 22 }), axis(colours, { ...logAxis, values, label: t("outliers.views"), labelSize: 22, size: 56 })],
      hooks: { drawAxes: [diagonal] },
    },
  };
}

/** What the plot shows, in a sentence: of all that was counted, of which the points may be a sample, or of the points. */
export function summaryOf(points: Point[], counted?: { scored: number; outliers: number }): string {
  const best = points[0];
  if (!best) return t("outliers.nothing");
  return t("outliers.summary", { n: counted?.scored ?? points.length, above: counted?.outliers ?? points.filter((point) => point.listed).length, score: number(best.score, 1), views: compact(best.views) });
}
