/**
 * Sends how far typical weekdays and the forecasts of libraries are from what is observed afterwards, in the tables that
 * the environment names.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { initSync, MSTL } from "@bsull/augurs/mstl";
import ARIMA from "arima";
import * as z from "zod";
import type { DayStorage } from "../../../functions/population-density/import/publish/day-division.ts";
import { storeDay } from "../../../functions/population-density/import/publish/store-days.ts";
import type { CountedDay, CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import {
  ForecastErrors,
  type PrecisionError,
} from "../../../functions/population-density/tiles/forecast-error.ts";
import { spansOf } from "../../../functions/population-density/tiles/span.ts";
import { observedDay, readSpans, tileName } from "../../../functions/population-density/tiles/store.ts";
import { hoursPerDay, readTileDay } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { cityModel } from "../../import/density/city-model.ts";
import { drawnCity } from "../../import/density/drawn-city.ts";
import { datesBefore } from "../../import/density/generate-density.ts";
import { modelDays } from "../../import/density/modelled-days.ts";
import { readJsonAs } from "../../import/json-file.ts";

const demo = fileURLToPath(new URL("../../demo/density-model.json", import.meta.url));
const centre = { west: 4.82, south: 45.74, east: 4.87, north: 45.78 };
const precision = 6;
/** Eight weeks from Monday to Sunday; clocks go back on 25 October. */
const dates = datesBefore("2026-11-02", 8);
const firstForecast = 5 * 7;
const firstAfterChange = 7 * 7;
const hoursPerWeek = 7 * hoursPerDay;
const historyHours = 4 * hoursPerWeek;

initSync({ module: readFileSync(new URL("mstl_bg.wasm", import.meta.resolve("@bsull/augurs/mstl"))) });

const { city } = await readJsonAs(z.object({ city: drawnCity }), demo);
const storage: DayStorage = {
  kind: "observed",
  precisions: [precision],
  threshold: 10,
  calendar: { timeZone: city.timeZone, holidays: [] },
};

/** Numbers of a standard normal distribution, the same each time. */
function* normals(): Generator<number, never> {
  let state = 1;
  const uniform = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (;;) yield Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
const noise = normals();

/** A day with counts drawn from the errors of the model. */
function drawn(day: CountedDay): CountedDay {
  async function* tiles(): AsyncGenerator<CountedTile> {
    for await (const tile of day.tiles) {
      const hours = tile.hours.map((hour) => {
        if (hour === undefined) return undefined;
        const people = hour.people.map((there, cell) => {
          const error = (hour.max[cell] ?? there) - there;
          return Math.max(0, Math.round(there + error * noise.next().value));
        });
        return { people, min: people, max: people };
      });
      yield { ...tile, hours };
    }
  }
  return { ...day, tiles: tiles() };
}

/** What is published of each cell, hour after hour, with 0 for a suppressed one. */
const series = new Map<string, number[]>();

async function addPublished({ date, coverage }: CountedDay): Promise<void> {
  for (const tile of coverage.keys()) {
    const name = tileName(precision, tile);
    const spans = await readSpans(name, spansOf(observedDay(date)), AbortSignal.timeout(60_000));
    const days = spans.map(({ hours }) => readTileDay(hours));
    for (let hour = 0; hour < hoursPerDay; hour++) {
      const opened = days.flatMap((day) => day.openHour(hour) ?? [])[0];
      for (let cell = 0; cell < cellsPerTile; cell++) {
        const kind = opened?.kind(cell) ?? "NO_DATA";
        if (opened === undefined || kind === "NO_DATA") continue;
        const ofCell = series.get(`${name} ${cell}`) ?? [];
        ofCell.push(kind === "LOW_DENSITY" ? 0 : opened.value(cell));
        series.set(`${name} ${cell}`, ofCell);
      }
    }
  }
}

/** The next day by each library, from the four weeks before it. */
const libraries = {
  naive: (history: readonly number[]): readonly number[] => {
    const seasonal = { p: 1, d: 0, q: 0, P: 0, D: 1, Q: 0, s: hoursPerWeek, verbose: false };
    const [next = []] = new ARIMA(seasonal).train([...history]).predict(hoursPerDay);
    return next;
  },
  mstl: (history: readonly number[]): readonly number[] => {
    const model = MSTL.ets([hoursPerDay, hoursPerWeek]);
    model.fit(Float64Array.from(history));
    return model.predict(hoursPerDay).point;
  },
};

interface Weeks {
  readonly weeks: string;
  readonly typical: ForecastErrors;
  readonly errors: { naive: number; mstl: number };
}

const quiet: Weeks = {
  weeks: "two weeks until the clock change",
  typical: new ForecastErrors(),
  errors: { naive: 0, mstl: 0 },
};
const changed: Weeks = {
  weeks: "the week after it",
  typical: new ForecastErrors(),
  errors: { naive: 0, mstl: 0 },
};

const days = modelDays(centre, { precision, dates, model: cityModel(city) });
for (const [index, day] of [...days].entries()) {
  const { compared } = await storeDay(drawn(day), storage);
  await addPublished(day);
  if (index < firstForecast) continue;
  const { typical, errors } = index < firstAfterChange ? quiet : changed;
  typical.addAll(compared.errors);
  const from = index * hoursPerDay;
  for (const ofCell of series.values()) {
    const history = ofCell.slice(from - historyHours, from);
    for (const name of ["naive", "mstl"] as const) {
      const next = libraries[name](history);
      for (let hour = 0; hour < hoursPerDay; hour++) {
        errors[name] += Math.abs((ofCell[from + hour] ?? Number.NaN) - Math.max(0, next[hour] ?? Number.NaN));
      }
    }
  }
}

process.send?.(
  [quiet, changed].map(({ weeks, typical, errors }) => {
    const [{ slots, within, observed, error }] = typical.list() as [PrecisionError];
    const wape = (sum: number) => sum / observed;
    return {
      weeks,
      slots,
      typical: wape(error),
      within: within / slots,
      naive: wape(errors.naive),
      mstl: wape(errors.mstl),
    };
  }),
);
