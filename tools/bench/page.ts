import type { Page } from "playwright-core";
import { findChromium, startChromium } from "../chromium.ts";
import { atMost, type Bench, inUnit, type Row, shown, sized } from "./bench.ts";
import { startService, withServer } from "./local-service.ts";

/** What the page's code takes while hours are chosen. */
export const page: Bench = {
  about: [
    "24 hours of the demo's first answer are chosen with the keyboard, each once the map has drawn the last one, in",
    "Chromium without graphics hardware. Counted are listeners of the page that keep it from answering for more than 50",
    "ms, by the frames that Chromium reports as long. Beside them is how many tasks were as long, with MapLibre's frames",
    "and what the browser does to draw: that time depends on graphics hardware, and has no limit.",
  ].join("\n"),
  run: async () => {
    const path = findChromium();
    if (path === undefined) return [shown("hours on the map", "no Chromium on this machine")];
    return await withServer(await startService(), async ({ url }) => {
      const browser = await startChromium(path);
      try {
        return rowsOf(await measured(await browser.newPage({ viewport: { width: 1200, height: 640 } }), url));
      } finally {
        await browser.close();
      }
    });
  },
};

const hours = sized(24, 2);
const longMilliseconds = 50;
const patience = 120_000;

/** Milliseconds of what Chromium reports as long. */
interface Long {
  readonly scripts: readonly number[];
  readonly tasks: readonly number[];
}

function rowsOf({ scripts, tasks }: Long): readonly Row[] {
  const count = inUnit("listeners");
  const longScripts = scripts.filter((milliseconds) => milliseconds > longMilliseconds);
  return [
    atMost(`${hours} hours chosen: listeners of more than 50 ms`, longScripts.length, 0, count),
    shown(`${hours} hours chosen: longest listener in a long frame`, inUnit("ms")(Math.max(0, ...scripts))),
    shown(`${hours} hours chosen: tasks of more than 50 ms`, inUnit("tasks")(tasks.length)),
  ];
}

/** Chooses hours, and returns what took long meanwhile. */
async function measured(page: Page, url: string): Promise<Long> {
  page.setDefaultTimeout(patience);
  await page.goto(url);
  await page.fill("#login-email", "app@example.com");
  await page.fill("#login-password", "correct horse battery staple");
  await page.click("#login button");
  await page.focus("#timeline input");
  await page.evaluate(mapDrawn);
  await page.evaluate(observe);
  for (let hour = 1; hour <= hours; hour++) {
    await page.keyboard.press(hour < 24 ? "ArrowRight" : "Home");
    await page.evaluate(mapDrawn);
  }
  return await page.evaluate<Long>("long");
}

/** Runs in the page: waits until the map has drawn everything. */
const mapDrawn = `new Promise((resolve) => {
  const { map } = document.getElementById("map");
  map.once("idle", resolve);
  map.triggerRepaint();
})`;

/** Runs in the page: collects what takes long from now on. */
const observe = `(() => {
  globalThis.long = { scripts: [], tasks: [] };
  const add = (to, durations) => long[to].push(...durations.map(({ duration }) => duration));
  new PerformanceObserver((list) => add("tasks", list.getEntries())).observe({ type: "longtask" });
  new PerformanceObserver((list) => add("scripts", list.getEntries().flatMap(({ scripts }) =>
    scripts.filter(({ invokerType }) => invokerType === "event-listener"))))
    .observe({ type: "long-animation-frame" });
})()`;
