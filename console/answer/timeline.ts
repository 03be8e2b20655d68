/** The hours of an answer: bars with their people, a slider, and a button that plays them. */

import { element, html, svg } from "../dom.ts";
import { whole } from "../numbers.ts";
import { dayLabel, hourLabel, zoneName } from "../time.ts";
import type { Densities } from "./cells.ts";

const playMilliseconds = 700;
const barsHeight = 40;

/** A timeline that is shown. */
export interface Timeline {
  readonly show: (hour: number) => void;
  readonly stop: () => void;
}

/** Shows the hours of an answer. `onHour` is called for every change, also the first. */
export function showTimeline(densities: Densities, onHour: (hour: number) => void): Timeline {
  const { hours } = densities;
  const max = Math.max(1, ...hours.map(({ people }) => people));
  const last = hours.length - 1;
  let current = 0;
  let playing: ReturnType<typeof setInterval> | undefined;

  const label = html("output", { class: "hour" });
  const total = html("span", { class: "total" });
  const bars = hours.map(({ people }, index) => {
    const height = Math.max(1, (people / max) * barsHeight);
    return svg("rect", { x: index + 0.1, y: barsHeight - height, width: 0.8, height, class: "bar-hour" });
  });
  const slider = html("input", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    value: 0,
    "aria-label": "Hour",
    disabled: last === 0,
    input: () => {
      stop();
      show(Number(slider.value));
    },
  });
  const play = html(
    "button",
    { type: "button", class: "play", disabled: last === 0, click: () => (playing ? stop() : start()) },
    "",
  );
  const show = (hour: number) => {
    const { start: from, end, people } = hours[hour] ?? {};
    if (from === undefined || end === undefined) return;
    bars[current]?.classList.remove("is-current");
    bars[hour]?.classList.add("is-current");
    current = hour;
    slider.value = String(hour);
    const text = hourLabel(from, end);
    slider.setAttribute("aria-valuetext", `${text}, ${whole(people ?? 0)} people`);
    label.textContent = text;
    total.textContent = `${whole(people ?? 0)} people in published cells`;
    onHour(hour);
  };
  const setPlay = (isPlaying: boolean) => {
    play.setAttribute("aria-label", isPlaying ? "Pause" : "Play the hours");
    const path = isPlaying ? "M6 5h4v14H6zM14 5h4v14h-4z" : "M7 4l13 8-13 8z";
    play.replaceChildren(
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path })),
    );
  };
  const start = () => {
    if (current === last) show(0);
    playing = setInterval(() => {
      if (current === last) stop();
      else show(current + 1);
    }, playMilliseconds);
    setPlay(true);
  };
  const stop = () => {
    clearInterval(playing);
    playing = undefined;
    setPlay(false);
  };
  setPlay(false);
  const first = hours[0]?.start ?? new Date();
  const end = hours.at(-1)?.start ?? first;
  element("timeline").replaceChildren(
    html(
      "div",
      { class: "card timeline", role: "group", "aria-label": "Hours" },
      play,
      html(
        "div",
        { class: "hours" },
        html("div", { class: "row spread" }, label, total),
        svg(
          "svg",
          {
            viewBox: `0 0 ${hours.length} ${barsHeight}`,
            preserveAspectRatio: "none",
            class: "bars",
            "aria-hidden": "true",
            click: (event) => {
              const { offsetX, currentTarget } = event as MouseEvent;
              const share = offsetX / (currentTarget as Element).clientWidth;
              stop();
              show(Math.min(last, Math.floor(share * hours.length)));
            },
          },
          ...bars,
        ),
        slider,
        html(
          "div",
          { class: "row spread note" },
          html("span", {}, dayLabel(first)),
          html("span", {}, `Times in ${zoneName()}`),
          html("span", {}, dayLabel(end)),
        ),
      ),
    ),
  );
  show(0);
  return { show, stop };
}
