// A plot by uPlot in the colours of the page. It is an image to those who cannot see it:
// its label says what it shows, and a table beside it has the same rows.
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { t } from "../i18n/t";
import { language, theme } from "../shell/preferences";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", (event) => { systemDark.value = event.matches; });

const scheme = computed(() => (theme.value === "auto" ? (systemDark.value ? "dark" : "light") : theme.value));

/** Loads the library for plots while the data of a plot are read. */
export function preparePlots(): void {
  import("../plots").catch(() => undefined); // Plot says it when it is needed
}

/** Series take the colours --plot-1 to --plot-6, one after the other. */
export const plotColours = 6;

export type Colours = { ink: string; muted: string; line: string; accent: string; surface: string; series: string[] };

/** Canvas knows no custom properties: an element has them resolved. */
function coloursOf(element: HTMLElement): Colours {
  const probe = element.appendChild(document.createElement("span"));
  const resolve = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    ink: resolve("ink"), muted: resolve("muted"), line: resolve("line"), accent: resolve("accent"), surface: resolve("surface"),
    series: Array.from({ length: plotColours }, (_, i) => resolve(`plot-${i + 1}`)),
  };
  probe.remove();
  return found;
}

export type Drawing = { options: Omit<uPlot.Options, "width" | "height">; data: uPlot.AlignedData; ready?: (plot: uPlot) => void };

type Props = {
  label: string;
  height?: number;
  draw: (colours: Colours, library: typeof uPlot) => Drawing;
  /** The plot is made again when one of these changes. */
  inputs: unknown[];
};

export function Plot({ label, height = 360, draw, inputs }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState(false);
  // Before the page is painted: a plot does not wait for a frame without it.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    let plot: uPlot | undefined;
    let gone = false;
    const size = () => ({ width: Math.max(200, element.clientWidth), height: height * zoom() });
    const watch = new ResizeObserver(() => {
      if (plot && plot.width !== size().width) plot.setSize(size());
    });
    import("../plots").then(({ default: library }) => {
      if (gone) return;
      const { options, data, ready } = draw(coloursOf(element), library);
      plot = new library({ ...options, ...size() }, data, element);
      ready?.(plot);
      watch.observe(element);
      setFailed(false);
    }, () => setFailed(true));
    return () => {
      gone = true;
      watch.disconnect();
      plot?.destroy();
    };
  }, [...inputs, height, scheme.value, language.value]);
  return (
    <>
      {failed && <p class="notice warn">{t("plot.failed")}</p>}
      <div ref={host} class="plot" role="img" aria-label={label} style={{ minHeight: failed ? 0 : `${height / 16}rem` }} />
    </>
  );
}

/** The marks of a logarithmic axis: 1, 2 and 5 of each power of ten, or the powers alone where there are many. */
export function logMarks(min: number, max: number): number[] {
  const steps = Math.log10(max / min) > 3.2 ? [1] : [1, 2, 5];
  const marks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
    for (const step of steps) marks.push(step * 10 ** power);
  }
  return marks.filter((mark) => mark >= min && mark <= max);
}

/** The width of a mark below a plot, in pixels at letters of 16. */
const markWidth = 44;

/** What a logarithmic axis needs beside its looks. Below a narrow plot it has fewer marks. */
export const logAxis = {
  splits: (u: uPlot, axis: number, min: number, max: number) => {
    const marks = logMarks(min, max);
    const step = axis === 0 ? Math.ceil((marks.length * markWidth * zoom()) / Math.max(1, u.bbox.width / devicePixelRatio)) : 1;
    return marks.filter((_, i) => i % step === 0);
  },
  filter: (_u: uPlot, splits: number[]) => splits,
};

/** How much larger than 16 pixels the letters of the page are: plots grow with them on wide screens. */
export const zoom = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** The looks of an axis. Sizes are in pixels at letters of 16. */
export function axis(colours: Colours, more: uPlot.Axis & { size?: number; labelSize?: number }): uPlot.Axis {
  const by = zoom();
  const font = `${12 * by}px system-ui, sans-serif`;
  return {
    stroke: colours.muted,
    font,
    labelFont: font,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
    ...more,
    size: (more.size ?? 50) * by,
    labelSize: (more.labelSize ?? 30) * by,
  };
}

export type { uPlot };
