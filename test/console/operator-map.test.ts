/** The operator's own map in a real browser, for `npm run test:all`. Without a browser these tests are skipped. */
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { FeatureCollection, Geometry } from "geojson";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startChromium } from "../../tools/chromium.ts";
import certificate from "../support/certificate.json" with { type: "json" };
import { mapArchive } from "../support/map-archive.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { cellsDrawn, chromium, isTested, logIn, openConsole, patience } from "./console-page.ts";

describe.skipIf(!isTested)("the operator's map", () => {
  let browser: Browser;
  let service: OwnService;
  let host: MapHost;
  beforeAll(async () => {
    host = await startMapHost();
    service = await startOwnService({ MAP_STYLE: `${host.origin}/style.json` }, { hasDemoData: true });
    browser = await startChromium(chromium ?? "");
  }, patience);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    host?.server.close();
  });

  test.each([
    ["a style", "style.json", "© City", [255, 224, 224]],
    ["an archive of tiles", "city.pmtiles", "© OpenStreetMap contributors", [236, 234, 229]],
  ] as const)(
    "the map draws %s of the operator below the cells, in ranges, from that origin alone",
    { timeout: 2 * patience },
    async (_, file, attribution, ground) => {
      host.asked.length = 0;
      const { page, problems, requests } = await openWithMap(file);
      await logIn(page);
      await cellsDrawn(page);

      expect(problems).toEqual([]);
      const origins = new Set(requests.map(({ url }) => new URL(url).origin));
      expect(origins).toEqual(new Set([new URL(service.url).origin, host.origin]));
      expect(host.asked).toContainEqual(["/city.pmtiles", 206]);
      expect(host.asked.filter(([path, status]) => path === "/city.pmtiles" && status !== 206)).toEqual([]);
      expect(await page.textContent(".maplibregl-ctrl-attrib")).toContain(attribution);
      expect(await page.isVisible("#base-map-credits")).toBe(false);
      // The area is at the right of the legend, in full height.
      expect(await colourAt(page, 0.3, 0.2)).toEqual(ground);
      expect(await colourAt(page, 0.7, 0.6)).not.toEqual(ground);
      await page.context().close();
    },
  );

  test("of attributions in a style, TileJSON and GeoJSON, the page has texts and links to the web, and stays where it is", {
    timeout: 2 * patience,
  }, async () => {
    const { page, problems, requests } = await openWithMap("marked-up.json");
    await logIn(page);
    await cellsDrawn(page);
    const named = page.locator(".maplibregl-ctrl-attrib-inner");
    await expect.poll(() => named.textContent(), { timeout: patience }).toContain("© GeoJSON");

    const elements = await named.evaluate((element) =>
      [...element.querySelectorAll("*")].map(({ tagName, attributes }) => [
        tagName,
        ...[...attributes].map(({ name, value }) => `${name}=${value}`),
      ]),
    );

    const link = (href: string) => ["A", `href=${href}`, "target=_blank", "rel=noopener noreferrer"];
    expect(elements.toSorted()).toEqual([
      link("http://tiles.example/"),
      link("https://style.example/a?b=1&c=2"),
    ]);
    expect((await named.textContent())?.split(" | ").toSorted()).toEqual([
      "© GeoJSON",
      "© Style & <b>sons</b>, here, there",
      "© TileJSON, Tiles",
    ]);
    await page.waitForTimeout(1_500);
    expect(new URL(page.url()).origin).toBe(new URL(service.url).origin);
    expect(requests.filter(({ url }) => url.includes("moved"))).toEqual([]);
    // The browser reports, while it parses, what it would not run.
    expect(problems.filter((problem) => !problem.includes("Content Security Policy"))).toEqual([]);
    await page.context().close();
  });

  test.each([
    ["is missing", "missing.json", "The status is 404."],
    ["is no style but names tiles", "tiles.json", "It is not a valid style: "],
    ["is never answered", "silent.json", "Its host did not answer within 10 seconds."],
  ])(
    "the map is the service's own, and says why, if the operator's %s",
    {
      timeout: 2 * patience,
    },
    async (_, file, reason) => {
      const { page } = await openWithMap(file);
      await logIn(page);
      await cellsDrawn(page);

      expect(await page.textContent("#map-note")).toContain("The operator’s map cannot be loaded");
      expect(await page.textContent("#map-note")).toContain(reason);
      expect(await page.isVisible("#base-map-credits")).toBe(true);
      await page.context().close();
    },
  );

  /** Opens the page with a file of the host instead of the style. */
  async function openWithMap(file: string) {
    const opened = await openConsole(browser, "about:blank", { ignoreHTTPSErrors: true });
    // The first change is to "interactive", before scripts of modules run.
    await opened.page.addInitScript(`document.addEventListener("readystatechange", () => {
      const setting = document.querySelector('meta[name="map-style"]');
      setting.content = setting.content.replace("style.json", "${file}");
    }, { once: true })`);
    await opened.page.goto(`${service.url}/#area=4.82,45.74,4.86,45.77&hours=1&precision=7`);
    return opened;
  }
});

/** The red, green and blue of a place on the map, in shares of its width and height. */
async function colourAt(page: Page, x: number, y: number): Promise<number[]> {
  const box = await page.locator("#map").boundingBox();
  if (box === null) throw new Error("there is no map");
  // A whole pixel of the screenshot at half the scale too: `test/console/console-page.ts`.
  const even = (value: number) => 2 * Math.round(value / 2);
  const clip = { x: even(box.x + x * box.width), y: even(box.y + y * box.height), width: 2, height: 2 };
  const png = (await page.screenshot({ clip })).toString("base64");
  return await page.evaluate<number[]>(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${png}";
    await image.decode();
    const context = document.createElement("canvas").getContext("2d");
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  })()`);
}

interface MapHost {
  readonly server: Server;
  readonly origin: string;
  /** Paths that were asked for, and the status of each response. */
  readonly asked: [path: string, status: number][];
}

/** Starts a host with a style and an archive of tiles, which answers ranges, and pages of any origin. */
async function startMapHost(): Promise<MapHost> {
  const asked: MapHost["asked"] = [];
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    const { origin } = host;
    const files = new Map([
      ["/style.json", Buffer.from(JSON.stringify(styleAt(origin)))],
      ["/city.pmtiles", archive],
      ["/marked-up.json", Buffer.from(JSON.stringify(markedUpAt(origin)))],
      ["/tilejson.json", Buffer.from(JSON.stringify(tileJsonAt(origin)))],
      ["/tiles.json", Buffer.from(JSON.stringify({ tilejson: "3.0.0", tiles: [`${origin}/{z}/{x}/{y}`] }))],
    ]);
    const path = request.url ?? "";
    if (path === "/silent.json") return;
    const file = files.get(path);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const status = file === undefined ? 404 : from === undefined ? 200 : 206;
    asked.push([path, status]);
    response.writeHead(status, {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "range",
      "access-control-expose-headers": "etag",
    });
    response.end(from === undefined ? file : file?.subarray(Number(from), Number(to) + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host: MapHost = {
    server,
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
  };
  return host;
}

function styleAt(origin: string) {
  return {
    version: 8,
    sources: { city: { type: "vector", url: `pmtiles://${origin}/city.pmtiles`, attribution: "© City" } },
    layers: [
      { id: "paper", type: "background", paint: { "background-color": "#ffffff" } },
      {
        id: "ground",
        type: "fill",
        source: "city",
        "source-layer": "earth",
        paint: { "fill-color": "#ffe0e0" },
      },
      {
        id: "names",
        type: "symbol",
        source: "city",
        "source-layer": "places",
        layout: { "text-field": ["get", "name"], "text-font": ["sans-serif"] },
      },
    ],
  };
}

/** Markup that shows a picture, runs a script, or moves the page away, where it is parsed as such. */
const harmful =
  `<meta http-equiv="refresh" content="0;url=/moved"><img src="/moved" onerror="location='/moved'">
  <form><input name="closest"><input name="childNodes"><style>p { color: red }</style><script>location = "/moved"</script>
  <iframe src="/moved"></iframe><svg onload="location='/moved'"></svg></form>`.replaceAll(/\s*\n\s*/g, "");

/** A style whose sources say in markup whose they are. */
function markedUpAt(origin: string) {
  const style = styleAt(origin);
  const square = { type: "Polygon", coordinates: [corners(4.3, 45.2, 5.5, 46)] };
  const links = `<a href="https://style.example/a?b=1&amp;c=2" onclick="location='/moved'" class="card">he<b>re</b></a>`;
  return {
    ...style,
    sources: {
      city: {
        ...style.sources.city,
        attribution: `${harmful}&copy; Style &amp; &lt;b&gt;sons&lt;/b&gt;, ${links}, <a href="javascript:location='/moved'">there</a>`,
      },
      tiles: { type: "vector", url: `${origin}/tilejson.json` },
      square: { type: "geojson", data: square, attribution: `© <p id="map">GeoJSON</p>${harmful}` },
    },
  };
}

function tileJsonAt(origin: string) {
  const attribution = `<div style="position:fixed">© TileJSON${harmful}</div>, <a href="http://tiles.example" name="map">Tiles</a>`;
  return { tilejson: "3.0.0", tiles: [`${origin}/{z}/{x}/{y}`], maxzoom: 0, attribution };
}

/** The tile of zoom 8 with Lyon: ground, a road, a name. */
const archive = mapArchive(
  {
    earth: features({ type: "Polygon", coordinates: [corners(4.3, 45.2, 5.5, 46)] }),
    roads: features({
      type: "LineString",
      coordinates: [
        [4.7, 45.7],
        [5, 45.8],
      ],
    }),
    places: features({ type: "Point", coordinates: [4.84, 45.755] }, "Lyon"),
  },
  [8, 131, 91],
);

function features(geometry: Geometry, name = ""): FeatureCollection {
  return { type: "FeatureCollection", features: [{ type: "Feature", properties: { name }, geometry }] };
}

function corners(west: number, south: number, east: number, north: number) {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}
