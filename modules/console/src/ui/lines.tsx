// Lines over time or age, with a legend and the table of their points.
import type uPlot from "uplot";
import { compact, moment, number } from "../i18n/format";
import { t } from "../i18n/t";
import { Plot, axis, logAxis, plotColours, type Colours, type Drawing } from "./plot";
import { Twin } from "./twin";

export type Line = {
  id: string;
  name: string;
  points: { x: number; y: number }[];
  /** Drawn behind the others, in grey. */
  faint?: boolean;
};

type Props = {
  title: string;
  summary: string;
  lines: Line[];
  /** Unix milliseconds, or days since posting. */
  x: "time" | "days";
  yTitle: string;
  height?: number;
};

const halfDay = 43_200_000;
const dashes = [[], [8, 4], [2, 4], [10, 4, 2, 4], [], [8, 4]];

export function Lines({ title, summary, lines, x, yTitle, height = 300 }: Props) {
  const xs = lines.flatMap((line) => line.points.map((point) => point.x));
  const ends: [number, number] = xs.length ? [Math.min(...xs), Math.max(...xs)] : [0, 0];
  if (ends[0] === ends[1]) { // a single point stands in the middle
    const around = x === "time" ? halfDay : 1;
    ends[0] -= around;
    ends[1] += around;
  }
  const span = ends[1] - ends[0];
  const xText = (value: number) => (x === "time" ? moment(value, span) : number(value, 1));
  const rows = lines.flatMap((line) => line.points.map((point, i) => ({ id: `${line.id} ${i}`, line, point })));
  return (
    <div class="figure-box">
      <p class="summary">{summary}</p>
      <Plot label={`${title}. ${summary}`} height={height} draw={(colours, library) => drawing(lines, x, ends, xText, colours, library)} inputs={[lines, x]} />
      <Legend lines={lines} />
      <Twin
        title={title} rows={rows} id={(row) => row.id}
        columns={[
          { title: t("plot.line"), head: true, cell: (row) => <bdi>{row.line.name}</bdi> },
          { title: t(x === "time" ? "plot.time" : "plot.days"), cell: (row) => xText(row.point.x), number: true },
          { title: yTitle, cell: (row) => number(row.point.y), number: true },
        ]}
      />
    </div>
  );
}

function Legend({ lines }: { lines: Line[] }) {
  const bold = lines.filter((line) => !line.faint);
  const faint = lines.length - bold.length;
  return (
    <ul class="legend" aria-hidden="true">
      {bold.map((line, i) => <li key={line.id}><span class={`swatch plot-${(i % plotColours) + 1}`} /><bdi>{line.name}</bdi></li>)}
      {faint > 0 && <li><span class="swatch faint" />{t("plot.peers", { n: faint })}</li>}
    </ul>
  );
}

function drawing(lines: Line[], x: "time" | "days", ends: [number, number], xText: (value: number) => string, colours: Colours, library: typeof uPlot): Drawing {
  const ordered = [...lines].sort((a, b) => Number(b.faint ?? false) - Number(a.faint ?? false));
  const tables = ordered.map((line): uPlot.AlignedData => {
    const byX = new Map(line.points.map((point) => [point.x, Math.max(1, point.y)]));
    const places = [...byX.keys()].sort((a, b) => a - b);
    return [places, places.map((place) => byX.get(place) ?? null)];
  });
  let bold = 0;
  const series: uPlot.Series[] = ordered.map((line) => {
    const turn = line.faint ? -1 : bold++;
    const stroke = line.faint ? colours.muted : (colours.series[turn % plotColours] ?? colours.accent);
    return {
      label: line.name, stroke, width: line.faint ? 1 : 2.5, spanGaps: true, alpha: line.faint ? 0.55 : 1,
      dash: line.faint ? undefined : dashes[turn % dashes.length],
      points: { show: true, size: line.faint ? 4 : 7, fill: line.faint ? colours.muted : colours.surface, stroke, width: line.faint ? 0 : 2 },
    };
  });
  const highest = Math.max(10, ...lines.flatMap((line) => line.points.map((point) => point.y)));
  const lowest = Math.max(1, Math.min(highest, ...lines.flatMap((line) => line.points.map((point) => point.y))));
  return {
    data: tables.length ? library.join(tables) : [[]],
    options: {
      legend: { show: false },
      cursor: { show: false },
      padding: [12, x === "time" ? 56 : 20, 0, 0],
      scales: {
        x: { time: false, range: () => ends },
        y: { distr: 3, range: () => [lowest / 1.5, highest * 1.6] },
      },
      series: [{}, ...series],
      axes: [
        axis(colours, { values: (_u, splits) => splits.map(xText), space: x === "time" ? 130 : 50, label: x === "days" ? t("plot.days") : undefined, labelSize: 20 }),
        axis(colours, { ...logAxis, values: (_u, splits) => splits.map((value) => compact(value)), size: 56 }),
      ],
    },
  };
}
