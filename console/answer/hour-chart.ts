/** The people of all hours as bars from zero, with the mean of each day, nights and labelled times. */
import { html } from "../base/dom.ts";
import { compact } from "../base/numbers.ts";
import { hourLabel, zoneName } from "../base/time.ts";
import { hideTooltip, showTooltip } from "../base/tooltip.ts";
import { basisText } from "../data/basis.ts";
import type { Hour } from "../data/densities.ts";
import type { CellSizes } from "./cell-sizes.ts";
import { headlineOf, headlineText, peopleIn } from "./headline.ts";
import { daysOf, nightsOf, type Span, ticksOf } from "./timeline-parts.ts";

interface HourChart {
  readonly element: HTMLElement;
  /** Marks the hour that is shown. */
  readonly mark: (hour: number) => void;
  /** Marks the hour with which others are compared, or none. */
  readonly markBase: (hour: number | undefined) => void;
  /** Stops following the width of the chart. */
  readonly remove: () => void;
}

/** The width of an hour in pixels, at most: a request of one hour is no bar as wide as the page. */
const widestHour = 64;

/** Creates the chart. @param slider stands below the bars, as wide as they are. */
export function hourChart(
  hours: readonly Hour[],
  sizes: CellSizes,
  slider: HTMLElement,
  choose: (hour: number) => void,
): HourChart {
  const people = hours.map((hour) => peopleIn(hour, sizes));
  const bars = hourBars(hours, people);
  const ticks = html("div", { class: "ticks note" });
  const plot = html(
    "div",
    { class: "plot" },
    html(
      "div",
      { class: "bars", "aria-hidden": "true", ...pointerActions(hours, sizes, choose) },
      ...nightsOf(hours.map(({ start }) => start)).map((span) => placed("night", span, hours.length)),
      ...bars,
      ...dayMeans(hours, people),
    ),
    slider,
    ticks,
  );
  plot.style.maxWidth = `${hours.length * widestHour}px`;
  slider.hidden = hours.length < 2;
  const observer = new ResizeObserver(([entry]) => showTicks(ticks, hours, entry?.contentRect.width ?? 0));
  observer.observe(plot);
  const mark = (name: string) => (hour: number | undefined) => {
    for (const [index, bar] of bars.entries()) bar.classList.toggle(name, index === hour);
  };
  return {
    element: html("div", { class: "hours" }, limits(people), plot),
    mark: mark("is-current"),
    markBase: mark("is-base"),
    remove: () => observer.disconnect(),
  };
}

function pointerActions(hours: readonly Hour[], sizes: CellSizes, choose: (hour: number) => void) {
  const hourAt = (event: Event) => {
    const { clientX, currentTarget } = event as MouseEvent;
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(hours.length - 1, Math.floor(((clientX - left) / width) * hours.length)));
  };
  return {
    click: (event: Event) => choose(hourAt(event)),
    pointermove: (event: Event) => {
      const { clientX, clientY, pointerType } = event as PointerEvent;
      const hour = hours[hourAt(event)];
      if (hour === undefined || pointerType !== "mouse") return;
      const times = `${hourLabel(hour.start, hour.end)} ${zoneName(hour.start)}`;
      const { unusual = [] } = hour;
      showTooltip(
        clientX,
        clientY,
        [headlineText(headlineOf(hour, sizes)), times, basisText(hour)].concat(unusual),
      );
    },
    pointerleave: hideTooltip,
  };
}

/** Zero, and the people of the highest bar. */
function limits(people: readonly number[]): HTMLElement {
  return html(
    "div",
    { class: "limits note", "aria-hidden": "true" },
    html("span", {}, compact(Math.max(...people))),
    html("span", {}, "0"),
  );
}

/** A bar for each hour, from zero. Among observed hours, those that were not, or only in part, are striped. */
function hourBars(hours: readonly Hour[], people: readonly number[]): readonly HTMLElement[] {
  const max = Math.max(...people);
  return hours.map(({ basis, unusual }, hour) => {
    const isPeak = people[hour] === max && hours.length > 1;
    const bar = placed(
      `bar-hour ${basis}${isPeak ? " is-peak" : ""}${unusual === undefined ? "" : " is-unusual"}`,
      { from: hour, to: hour + 1 },
      hours.length,
    );
    bar.style.height = `${max === 0 ? 0 : (100 * (people[hour] ?? 0)) / max}%`;
    return bar;
  });
}

/** A line at the mean of each day's hours. */
function dayMeans(hours: readonly Hour[], all: readonly number[]): HTMLElement[] {
  const max = Math.max(...all);
  return daysOf(hours.map(({ start }) => start)).flatMap((day) => {
    const people = all.slice(day.from, day.to);
    const mean = people.reduce((sum, one) => sum + one, 0) / people.length;
    if (people.length < 2 || max === 0) return [];
    const line = placed("day-mean", day, hours.length);
    line.style.bottom = `${(100 * mean) / max}%`;
    return [line];
  });
}

/** An element that spans hours. */
function placed(name: string, { from, to }: Span, count: number): HTMLElement {
  const span = html("span", { class: name });
  span.style.left = `${(100 * from) / count}%`;
  span.style.width = `${(100 * (to - from)) / count}%`;
  return span;
}

function showTicks(place: HTMLElement, hours: readonly Hour[], width: number): void {
  const starts = hours.map(({ start }) => start);
  place.replaceChildren(
    ...ticksOf(starts, width).map(({ hour, text, isDay }) => {
      const tick = html("span", { class: isDay ? "tick is-day" : "tick" }, text);
      tick.style.left = `${(100 * hour) / starts.length}%`;
      return tick;
    }),
  );
}
