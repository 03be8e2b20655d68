/** The timeline above the map: the people of an hour, the bars of all hours, and what plays and compares them. */
import { buttonTo, element, html } from "../base/dom.ts";
import { about, compact, counted } from "../base/numbers.ts";
import {
  chooseUtc,
  hourLabel,
  isUtcChosen,
  nameOfDataZone,
  placeOfDataZone,
  zoneName,
} from "../base/time.ts";
import { basisText, haveOneBasis } from "../data/basis.ts";
import { changeFrom, type Densities, type Hour } from "../data/densities.ts";
import type { CellSizes } from "./cell-sizes.ts";
import { headlineOf, headlineText, peopleIn } from "./headline.ts";
import { hourChart } from "./hour-chart.ts";
import { Playback } from "./playback.ts";
import { night } from "./timeline-parts.ts";

interface TimelineOptions {
  readonly densities: Densities;
  readonly sizes: CellSizes;
  /** Whether all that is covered is modelled. */
  readonly isModelled: boolean;
  /** The hour that is shown first. */
  readonly initial: number;
  /** Called for every change, and for the initial hour. */
  readonly onHour: (hour: number) => void;
  /** Called when hours begin to be played, and when they end. */
  readonly onPlaying: (isPlaying: boolean) => void;
  /** Called with the hour to compare others with; with undefined to show hours themselves again. */
  readonly onBase: (hour: number | undefined) => void;
  /** Called when times are shown in another time zone. */
  readonly onZone: () => void;
}

/** The timeline of an answer. */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #hours: readonly Hour[];
  readonly #label = html("output", { class: "hour" });
  readonly #people = html("strong", { class: "people" });
  readonly #mean = html("span", { class: "mean" });
  readonly #ground = html("span", { class: "ground" });
  readonly #zone = html("span");
  readonly #basis = html("span");
  readonly #unusual = html("p", { class: "unusual note" });
  readonly #hasOneBasis: boolean;
  readonly #slider: HTMLInputElement;
  readonly #chart: ReturnType<typeof hourChart>;
  readonly #playback: Playback;
  #current = 0;
  #base: number | undefined;

  /** Shows the timeline. */
  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#hours = options.densities.hours;
    this.#hasOneBasis = haveOneBasis(this.#hours.map(({ basis }) => basis));
    const last = this.#hours.length - 1;
    this.#slider = html("input", {
      type: "range",
      min: 0,
      max: last,
      step: 1,
      value: 0,
      "aria-label": "Hour",
      disabled: last === 0,
      input: () => this.choose(Number(this.#slider.value)),
    });
    this.#chart = hourChart(this.#hours, options.sizes, this.#slider, (hour) => this.choose(hour));
    this.#playback = new Playback({
      count: this.#hours.length,
      current: () => this.#current,
      show: (hour) => this.#show(hour),
      onPlaying: options.onPlaying,
    });
    element("timeline").replaceChildren(this.#card());
    this.#show(options.initial);
  }

  /** Stops playing and removes the timeline. */
  remove(): void {
    this.#playback.stop();
    this.#chart.remove();
    element("timeline").replaceChildren();
  }

  /** Shows the hour that the user chose. */
  choose(hour: number): void {
    this.#playback.stop();
    this.#show(hour);
  }

  #show(hour: number): void {
    const shown = this.#hours[hour];
    if (shown === undefined) return;
    this.#chart.mark(hour);
    this.#current = hour;
    this.#slider.value = String(hour);
    const label = hourLabel(shown.start, shown.end);
    const { unusual = "" } = shown;
    const headline = headlineText(headlineOf(shown, this.#options.sizes));
    const words = [label, basisText(shown), headline, unusual].filter((text) => text !== "");
    this.#slider.setAttribute("aria-valuetext", words.join(", "));
    this.#label.textContent = label;
    this.#zone.textContent = ` ${zoneName(shown.start)}`;
    this.#showPeople(shown);
    this.#basis.textContent = basisText(shown, this.#options.isModelled);
    this.#basis.className = `basis ${shown.basis}`;
    this.#unusual.textContent = unusual;
    this.#options.onHour(hour);
  }

  /** The people of an hour, or how many more there are than in the base, and in which cells. */
  #showPeople(shown: Hour): void {
    const { sizes } = this.#options;
    const base = this.#base === undefined ? undefined : this.#hours[this.#base];
    if (base === undefined) {
      const { people, mean, ground } = headlineOf(shown, sizes);
      this.#people.textContent = people;
      this.#mean.textContent = mean ?? "";
      this.#ground.textContent = ` ${ground}`;
      return;
    }
    const { people, cells } = changeFrom(base, shown, sizes.weights);
    this.#people.textContent = `${people < 0 ? "−" : people > 0 ? "+" : ""}${about(Math.abs(people))} people`;
    this.#mean.textContent = "";
    const compared = `compared with ${hourLabel(base.start, base.end)}`;
    this.#ground.textContent = ` ${compared}, in ${counted(cells, "cell")} published in both hours`;
  }

  #card(): HTMLElement {
    return html(
      "div",
      { class: this.#hasOneBasis ? "timeline" : "timeline has-bases", role: "group", "aria-label": "Hours" },
      this.#playback.button,
      html(
        "div",
        { class: "headline", tabindex: -1 },
        html("p", { class: "total-people" }, this.#people, " ", this.#mean, this.#ground),
        html("p", {}, this.#label, this.#zone),
        html("p", {}, this.#basis),
        this.#unusual,
      ),
      this.#chart.element,
      html("div", { class: "tools" }, ...this.#playback.tools, this.#compareButton(), this.#zoneField()),
      html("p", { class: "hidden-text" }, this.#summary()),
    );
  }

  /** What the bars show, for people who do not see them. */
  #summary(): string {
    const people = this.#hours.map((hour) => peopleIn(hour, this.#options.sizes));
    const most = Math.max(...people);
    const max = this.#hours[people.indexOf(most)];
    const nights = `Hours from ${night.from}:00 to 0${night.to}:00 are shaded.`;
    return `Most people: ${compact(most)}${max ? `, ${hourLabel(max.start, max.end)}` : ""}. ${nights}`;
  }

  /** Keeps the hour on view as the one that others are compared with. */
  #compareButton(): HTMLElement {
    const compare = () => {
      this.#base = this.#base === undefined ? this.#current : undefined;
      button.setAttribute("aria-pressed", String(this.#base !== undefined));
      this.#chart.markBase(this.#base);
      this.#options.onBase(this.#base);
      this.#show(this.#current);
    };
    const button = buttonTo("Compare", compare, {
      class: "tool",
      "aria-pressed": "false",
      title: "Show how other hours differ from the one on view",
      disabled: this.#hours.length < 2,
    });
    return button;
  }

  #zoneField(): HTMLElement {
    const field = html(
      "select",
      { "aria-label": "Time zone", title: `Time zone: ${nameOfDataZone()} or UTC` },
      html("option", { value: "data", selected: !isUtcChosen() }, placeOfDataZone()),
      html("option", { value: "utc", selected: isUtcChosen() }, "UTC"),
    );
    field.addEventListener("change", () => {
      chooseUtc(field.value === "utc");
      this.#options.onZone();
    });
    return field;
  }
}
