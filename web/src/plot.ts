/** Plot of counts over days, drawn by uPlot; loaded when it is first shown. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { resolveColour } from "./colours";

export interface Series {
  label: string;
  /** The name of its colour in the style sheet. */
  colour: string;
  values: number[];
}

const HEIGHT = 220;

/** Plot series over days (as 2026-11-21) into an element; returns what takes the plot away again. */
export function drawPlot(place: HTMLElement, days: string[], series: Series[]): () => void {
  const [quiet, line] = [resolveColour(place, "--quiet"), resolveColour(place, "--line")];
  const axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const plot = new uPlot(
    {
      width: Math.max(place.clientWidth, 200),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.05, 1)] } },
      axes: [axis, { ...axis, size: 60 }],
      series: [{}, ...series.map(({ label, colour }) => ({ label, stroke: resolveColour(place, colour), width: 2, points: { show: false } }))],
    },
    [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => values)],
    place,
  );
  const follow = new ResizeObserver(() => plot.setSize({ width: Math.max(place.clientWidth, 200), height: HEIGHT }));
  follow.observe(place);
  return () => {
    follow.disconnect();
    plot.destroy();
  };
}
