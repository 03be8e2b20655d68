import type { Page } from "playwright-core";
import { findChromium, startChromium } from "../chromium.ts";
import { atMost, type Bench, inUnit, type Row, shown, sized } from "./bench.ts";
import { application, startService, withServer } from "./local-service.ts";

/** What the page's code takes while hours are chosen. */
export const page: Bench = {
  about: [
    "24 hours of the demo's first answer are chosen with the keyboard, each once the map has drawn the last one, in",
    "Chromium without graphics hardware. Counted are listeners of the page that keep it from answering for more than",
    "50 ms, by the frames that Chromium reports as long; timers, promises and callbacks of frames are not. Beside them",
    "is how many tasks were as long, with MapLibre's frames and what the browser does to draw: that time depends on",
    "graphics hardware, and has no limit.",
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

/**
 * Chooses hours from the first one on, and returns what took long meanwhile.
 * @throws {Error} when a key does not choose the hour that it should.
 */
async function measured(page: Page, url: string): Promise<Long> {
  page.setDefaultTimeout(patience);
  await page.goto(url);
  await page.fill("#login-email", application.EmailAddress);
  await page.fill("#login-password", application.password);
  await page.click("#login button");
  await page.focus("#timeline input");
  await choose(page, "Home", 0);
  await page.evaluate(observe);
  for (let press = 1; press <= hours; press++)
    await (press < 24 ? choose(page, "ArrowRight", press) : choose(page, "Home", 0));
  return await page.evaluate<Long>(longAfterFrames);
}

async function choose(page: Page, key: string, hour: number): Promise<void> {
  await page.keyboard.press(key);
  const shown = await page.evaluate(mapDrawn);
  if (shown !== String(hour)) throw new Error(`${key} has chosen hour ${shown} instead of ${hour}`);
}

/** Runs in the page: waits until the map has drawn everything, and returns the hour that it shows. */
const mapDrawn = `new Promise((resolve) => {
  const { map, dataset } = document.getElementById("map");
  map.once("idle", () => resolve(dataset.hour));
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

/** Runs in the page: returns what took long, once the last frames are reported. */
const longAfterFrames = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(long)));
})`;
