/** Plays hours one after the other, at a chosen speed, once or again and again. */
import { buttonTo, html, svg } from "../base/dom.ts";

const playMilliseconds = 700;
const speeds = [0.5, 1, 2, 4] as const;

/** Chosen once, kept over answers. */
let speed = 1;
let isLooping = false;

interface PlaybackOptions {
  readonly count: number;
  readonly current: () => number;
  /** Shows the hour to which playing has come. */
  readonly show: (hour: number) => void;
  readonly onPlaying: (isPlaying: boolean) => void;
}

/** The button that plays, with the choice of speed and of a loop. */
export class Playback {
  readonly button: HTMLButtonElement;
  readonly tools: readonly HTMLElement[];
  readonly #options: PlaybackOptions;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Creates the elements, not playing. */
  constructor(options: PlaybackOptions) {
    this.#options = options;
    const disabled = options.count < 2;
    this.button = html("button", {
      type: "button",
      class: "play",
      disabled,
      click: () => (this.#timer === undefined ? this.#start() : this.stop()),
    });
    this.tools = [this.#speedField(disabled), this.#loopButton(disabled)];
    this.#showPlaying();
  }

  /** Stops playing. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#showPlaying();
    this.#options.onPlaying(false);
  }

  #start(): void {
    const { current, count, show, onPlaying } = this.#options;
    if (current() === count - 1) show(0);
    onPlaying(true);
    this.#schedule();
    this.#showPlaying();
  }

  #schedule(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#step(), playMilliseconds / speed);
  }

  #step(): void {
    const { current, count, show } = this.#options;
    const next = current() + 1;
    if (next < count) show(next);
    else if (isLooping) show(0);
    else this.stop();
  }

  #speedField(disabled: boolean): HTMLElement {
    const field = html(
      "select",
      { "aria-label": "Speed", title: "Speed", disabled },
      ...speeds.map((one) => html("option", { value: one, selected: one === speed }, `${one} ×`)),
    );
    field.addEventListener("change", () => {
      speed = Number(field.value);
      if (this.#timer !== undefined) this.#schedule();
    });
    return field;
  }

  #loopButton(disabled: boolean): HTMLElement {
    const change = () => {
      isLooping = !isLooping;
      button.setAttribute("aria-pressed", String(isLooping));
    };
    const pressed = { class: "tool", "aria-pressed": String(isLooping) };
    const button = buttonTo("Loop", change, { ...pressed, title: "Play again and again", disabled });
    return button;
  }

  #showPlaying(): void {
    const isPlaying = this.#timer !== undefined;
    this.button.setAttribute("aria-label", isPlaying ? "Pause" : "Play the hours");
    const path = isPlaying ? "M6 5h4v14H6zM14 5h4v14h-4z" : "M7 4l13 8-13 8z";
    this.button.replaceChildren(
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path })),
    );
  }
}
