// Bars, one for each name on the axis, with the table of the same rows.
import type uPlot from "uplot";
import { number } from "../i18n/format";
import { Plot, axis, type Colours, type Drawing } from "./plot";
import { Twin } from "./twin";

export type Bar = { name: string; value: number };

type Props = {
  title: string;
  summary: string;
  bars: Bar[];
  /** What the names are, and what is counted. */
  xTitle: string;
  yTitle: string;
};

export function Bars({ title, summary, bars, xTitle, yTitle }: Props) {
  return (
    <div class="figure-box">
      <p class="summary">{summary}</p>
      <Plot label={`${title}. ${summary}`} height={220} draw={(colours, library) => drawing(bars, colours, library)} inputs={[bars.map(({ value }) => value).join()]} />
      <Twin
        title={title} rows={bars} id={(bar) => bar.name}
        columns={[
          { title: xTitle, head: true, cell: (bar) => bar.name },
          { title: yTitle, number: true, cell: (bar) => number(bar.value) },
        ]}
      />
    </div>
  );
}

/** The width of a name on the axis, in pixels. */
const nameWidth = 44;

function drawing(bars: Bar[], colours: Colours, library: typeof uPlot): Drawing {
  const fill = colours.series[0] ?? colours.accent;
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const names = (u: uPlot) => {
    const step = Math.ceil((bars.length * nameWidth) / Math.max(1, u.width));
    return bars.flatMap((_, i) => (i % step === 0 ? [i] : []));
  };
  return {
    data: [bars.map((_, i) => i), bars.map(({ value }) => value)],
    options: {
      legend: { show: false },
      cursor: { show: false },
      padding: [12, 12, 0, 0],
      scales: { x: { time: false, range: () => [-0.6, bars.length - 0.4] }, y: { range: () => [0, most * 1.1] } },
      series: [{}, { stroke: fill, fill, width: 0, points: { show: false }, paths: library.paths.bars?.({ size: [0.7, 80] }) }],
      axes: [
        axis(colours, { splits: names, values: (_u, splits) => splits.map((at) => bars[at]?.name ?? ""), grid: { show: false }, size: 32 }),
        axis(colours, { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], values: (_u, splits) => splits.map((value) => number(value)), size: 56 }),
      ],
    },
  };
}
