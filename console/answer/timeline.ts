/** The strip above the map: the people of an hour, the bars of all hours, a slider, and a button that plays them. */
import { element, html, svg } from "../dom.ts";
import { compact, whole } from "../numbers.ts";
import { dayLabel, hourLabel, timeLabel, zoneName } from "../time.ts";
import { basisText, haveOneBasis } from "./basis.ts";
import type { Densities, Hour } from "./densities.ts";

const playMilliseconds = 700;
/** Of the hour with the fewest people, as a share of the peak's. */
const minBarHeight = 0.08;

/** The timeline of an answer. */
export class Timeline {
  readonly #hours: readonly Hour[];
  readonly #onHour: (hour: number) => void;
  readonly #label = html("output", { class: "hour" });
  readonly #people = html("strong", { class: "people" });
  readonly #basis = html("span");
  readonly #hasOneBasis: boolean;
  readonly #bars: readonly HTMLElement[];
  readonly #slider: HTMLInputElement;
  readonly #play: HTMLButtonElement;
  #current = 0;
  #playing: ReturnType<typeof setInterval> | undefined;

  /** Shows the timeline. `onHour` is called for every change, and for the initial hour. */
  constructor({ hours }: Densities, onHour: (hour: number) => void, initial: number) {
    this.#hours = hours;
    this.#onHour = onHour;
    this.#hasOneBasis = haveOneBasis(hours.map(({ basis }) => basis));
    this.#bars = hourBars(hours);
    this.#slider = html("input", {
      type: "range",
      min: 0,
      max: this.#last,
      step: 1,
      value: 0,
      "aria-label": "Hour",
      disabled: this.#last === 0,
      input: () => this.#choose(Number(this.#slider.value)),
    });
    this.#play = html("button", {
      type: "button",
      class: "play",
      disabled: this.#last === 0,
      click: () => (this.#playing === undefined ? this.#start() : this.stop()),
    });
    this.#showPlaying(false);
    element("timeline").replaceChildren(this.#card());
    this.#show(initial);
  }

  get #last(): number {
    return this.#hours.length - 1;
  }

  /** Stops playing. */
  stop(): void {
    clearInterval(this.#playing);
    this.#playing = undefined;
    this.#showPlaying(false);
  }

  /** Stops playing and removes the timeline. */
  remove(): void {
    this.stop();
    element("timeline").replaceChildren();
  }

  #start(): void {
    if (this.#current === this.#last) this.#show(0);
    this.#playing = setInterval(() => {
      if (this.#current === this.#last) this.stop();
      else this.#show(this.#current + 1);
    }, playMilliseconds);
    this.#showPlaying(true);
  }

  /** Shows the hour that the user chose. */
  #choose(hour: number): void {
    this.stop();
    this.#show(hour);
  }

  #show(hour: number): void {
    const { start, end, people = 0, basis = "NONE" } = this.#hours[hour] ?? {};
    if (start === undefined || end === undefined) return;
    this.#bars[this.#current]?.classList.remove("is-current");
    this.#bars[hour]?.classList.add("is-current");
    this.#current = hour;
    this.#slider.value = String(hour);
    const label = hourLabel(start, end);
    const words = [label, basisText(basis), `${whole(people)} people`].filter((text) => text !== "");
    this.#slider.setAttribute("aria-valuetext", words.join(", "));
    this.#label.textContent = label;
    this.#people.textContent = whole(people);
    const isOfAll = this.#hasOneBasis && this.#last > 0 && basis !== "NONE";
    this.#basis.textContent = `${basisText(basis)}${isOfAll ? ", as all hours" : ""}`;
    this.#basis.className = `basis ${basis}`;
    this.#onHour(hour);
  }

  #showPlaying(isPlaying: boolean): void {
    this.#play.setAttribute("aria-label", isPlaying ? "Pause" : "Play the hours");
    const path = isPlaying ? "M6 5h4v14H6zM14 5h4v14h-4z" : "M7 4l13 8-13 8z";
    this.#play.replaceChildren(
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path })),
    );
  }

  #card(): HTMLElement {
    return html(
      "div",
      {
        class: this.#hasOneBasis ? "timeline" : "timeline has-bases",
        role: "group",
        "aria-label": "Hours",
      },
      this.#play,
      html(
        "div",
        { class: "headline" },
        html("p", { class: "total-people" }, this.#people, " people in published cells"),
        html("p", {}, this.#label, ` ${zoneName()}`),
        html("p", {}, this.#basis),
      ),
      html(
        "div",
        { class: "hours" },
        barLimits(this.#hours),
        html("div", { class: "plot" }, this.#barChart(), this.#slider),
        html("p", { class: "peak note" }, peakText(this.#hours)),
        html(
          "div",
          { class: "row spread note days" },
          ...endLabels(this.#hours.map(({ start }) => start)).map((label) => html("span", {}, label)),
        ),
      ),
    );
  }

  /** The bars; a click on one selects its hour. */
  #barChart(): HTMLElement {
    const choose = (event: Event) => {
      const { clientX, currentTarget } = event as MouseEvent;
      const { left, width } = (currentTarget as Element).getBoundingClientRect();
      const share = (clientX - left) / width;
      this.#choose(Math.min(this.#last, Math.floor(share * this.#hours.length)));
    };
    const bars = html("div", { class: "bars", "aria-hidden": "true", click: choose }, ...this.#bars);
    bars.style.setProperty("--hours", String(this.#hours.length));
    return bars;
  }
}

/** The hour with the most people. */
function peakOf(hours: readonly Hour[]): Hour | undefined {
  return hours.reduce<Hour | undefined>(
    (peak, hour) => (peak && peak.people >= hour.people ? peak : hour),
    undefined,
  );
}

function peakText(hours: readonly Hour[]): string {
  const peak = peakOf(hours);
  return peak === undefined || hours.length === 1
    ? ""
    : `Peak: ${whole(peak.people)} people, ${hourLabel(peak.start, peak.end)}`;
}

/** The days of the first and the last hour; with the times where these are on one day. */
function endLabels(starts: readonly Date[]): readonly string[] {
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (starts.length === 1) return [timeLabel(first)];
  const isOneDay = dayLabel(first) === dayLabel(last);
  return [first, last].map(isOneDay ? timeLabel : dayLabel);
}

/** The people of the highest and of the lowest bar: one label where these are the same. */
function barLimits(hours: readonly Hour[]): HTMLElement {
  const people = hours.map((hour) => Math.round(hour.people));
  const labels = new Set([Math.max(...people), Math.min(...people)].map(compact));
  return html(
    "div",
    { class: "limits note", title: "The highest and the lowest bar" },
    ...[...labels].map((label) => html("span", {}, label)),
  );
}

/**
 * A bar for each hour: the one with the fewest people is lowest, the peak is highest. Among observed hours, those that
 * were not, or only in part, are striped.
 */
function hourBars(hours: readonly Hour[]): readonly HTMLElement[] {
  const people = hours.map((hour) => hour.people);
  const [min, max] = [Math.min(...people), Math.max(...people)];
  const peak = peakOf(hours);
  return hours.map((hour) => {
    const share = max === min ? 1 : (hour.people - min) / (max - min);
    const isPeak = hour === peak && hours.length > 1;
    const bar = html("span", { class: `bar-hour ${hour.basis}${isPeak ? " is-peak" : ""}` });
    bar.style.height = `${100 * (minBarHeight + share * (1 - minBarHeight))}%`;
    return bar;
  });
}
