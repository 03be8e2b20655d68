/** Whether a text is `YYYY-MM-DD` and names a day that the calendar has. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // A day that is not there, such as 30 February, is read as a later one.
  return !Number.isNaN(date.getTime()) && dayOf(date) === text;
}

/** The day in UTC, `YYYY-MM-DD`; such days compare as text. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}
