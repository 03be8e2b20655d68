/** The page in browsers as people have them, for `npm run test:all`. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ConsolePage,
  cellsDrawn,
  expectNoProblems,
  hourInAddress,
  isTested,
  logIn,
  openConsole,
  patience,
  useConsole,
} from "./console-page.ts";

describe.skipIf(!isTested)("the page in any browser", { timeout: 2 * patience }, () => {
  const used = useConsole();

  describe("without AbortSignal.any", () => {
    let map: ConsolePage;
    beforeAll(async () => {
      map = await openConsole(used.browser, `${used.service.url}/reference`);
      await map.page.addInitScript("delete AbortSignal.any");
      await map.page.goto(`${used.service.url}/#from=${hourInAddress(2)}`);
      await logIn(map.page);
    }, 2 * patience);
    afterAll(() => map?.page.context().close());

    test("without AbortSignal.any, the map draws more than 100 cells", async () => {
      expect((await cellsDrawn(map.page)).published).toBeGreaterThan(100);
      expectNoProblems(map);
    });

    test("the numbers go on while the WebGL context is lost, and all cells of the hour are there when it is back", async () => {
      const { page } = map;
      await page.evaluate(`(() => {
        const gl = document.querySelector("#map canvas").getContext("webgl2");
        globalThis.lost = gl.getExtension("WEBGL_lose_context");
        lost.loseContext();
      })()`);
      await page.waitForFunction("document.getElementById('map').map.style === null");

      expect((await numbersOfADay(page)).size).toBeGreaterThan(5);
      expect(await page.getAttribute("#map", "data-hour")).toBe("23");
      await page.evaluate("lost.restoreContext()");
      expect((await cellsDrawn(page)).published).toBeGreaterThan(100);
      // The browser says that it has lost the context.
      expectNoProblems(map, /context lost|CONTEXT_LOST|WebGL/i);
    });

    test("with forced colours the glyphs, the bars, the legend's colours and the hour on view can be told from the ground", async () => {
      const { page } = map;
      await page.emulateMedia({ forcedColors: "active" });
      const colour = (selector: string, name: string) =>
        page.evaluate(
          `getComputedStyle(document.querySelector(${JSON.stringify(selector)}))[${JSON.stringify(name)}]`,
        );

      const ground = await colour("#timeline", "backgroundColor");
      const bar = await colour(".bar-hour:not(.is-current)", "backgroundColor");
      const current = await colour(".bar-hour.is-current", "backgroundColor");
      expect(new Set([ground, bar, current]).size).toBe(3);
      expect(await colour(".play svg", "fill")).not.toBe(await colour(".play", "backgroundColor"));
      const zoom = ".maplibregl-ctrl-zoom-in .maplibregl-ctrl-icon";
      expect(await colour(zoom, "backgroundColor")).toBe("rgb(255, 255, 255)");
      const classes = await page.locator("#legend .ramp .colour").count();
      const colours = await page.evaluate<string[]>(
        `[...document.querySelectorAll("#legend .ramp .colour")].map((one) => getComputedStyle(one).backgroundColor)`,
      );
      expect(new Set(colours).size).toBe(classes);
      await page.emulateMedia({ forcedColors: "none" });
    });
  });

  test("without WebGL and with all storage refused, the page says so and has headline, hours, cells and downloads", async () => {
    const map = await openConsole(used.browser, `${used.service.url}/reference`);
    const { page } = map;
    await page.addInitScript(`{
      const refuse = function () { throw new DOMException("refused", "SecurityError"); };
      globalThis.BroadcastChannel = refuse;
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get: refuse });
      const getContext = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...others) {
        return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...others);
      };
    }`);
    await page.goto(`${used.service.url}/#from=${hourInAddress(2)}`);
    await logIn(page);

    await page.getByText("This browser cannot draw the map").waitFor();
    await page.locator(".bar-hour").nth(23).waitFor();
    expect((await numbersOfADay(page)).size).toBeGreaterThan(5);
    await page.click("text=Densest cells");
    await page.locator("button.link").first().click();
    expect(await page.textContent("#cell .figure")).toMatch(/people per km²/);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "GeoJSON", exact: true }).click();
    expect((await downloading).suggestedFilename()).toMatch(/\.geojson$/);
    for (const name of ["Draw", "3D", "PNG"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    expectNoProblems(map);
    await page.context().close();
  });
});

/** The different numbers of people that the headline gives for 24 hours; hours alike, as at night, give the same. */
async function numbersOfADay(page: Page): Promise<ReadonlySet<string | null>> {
  const numbers = new Set<string | null>();
  await page.focus("#timeline input");
  for (const key of ["Home", ...Array.from({ length: 23 }, () => "ArrowRight")]) {
    await page.keyboard.press(key);
    numbers.add(await page.textContent("#timeline .people"));
  }
  return numbers;
}
