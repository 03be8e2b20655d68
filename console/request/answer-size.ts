/** The size of the answer in cells × hours, compared with the limit of a synchronous answer. */
import { html } from "../base/dom.ts";
import { counted, whole } from "../base/numbers.ts";

interface AnswerSize {
  readonly elements: readonly HTMLElement[];
  /**
   * Shows the size of the largest of some answers; without cells, only the limit.
   * @param cost of the daily quota, of all requests; shown where it is more than 1
   */
  readonly show: (cells: number | undefined, hours: number, answers: number, cost: number) => void;
}

/** Creates the meter and its text. */
export function answerSize(limit: number): AnswerSize {
  const meter = html("meter", {
    min: 0,
    max: limit,
    low: limit * 0.8,
    high: limit,
    optimum: 0,
    "aria-label": "Size of the answer",
  });
  const text = html("p", { class: "size" });
  const show: AnswerSize["show"] = (cells, hours, answers, cost) => {
    const size = (cells ?? 0) * hours;
    meter.value = size;
    text.classList.toggle("problem", size > limit);
    if (cells === undefined) {
      text.textContent = `At most ${whole(limit)} cells × hours.`;
      return;
    }
    const product = `${counted(cells, "cell")} × ${counted(hours, "hour")} = ${whole(size)}`;
    const largest = answers > 1 ? `The largest of ${answers} areas: ` : "";
    const price =
      cost > 1
        ? ` ${answers === 1 ? "The request costs" : `${answers} requests cost`} ${whole(cost)} of the daily quota.`
        : "";
    text.textContent = `${largest}${product} of at most ${whole(limit)}.${price}`;
  };
  return { elements: [meter, text], show };
}
