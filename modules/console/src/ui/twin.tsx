// What a plot shows, as a table: closed at first, and never more rows than are asked for.
import { useState } from "preact/hooks";
import { t } from "../i18n/t";
import { Button } from "./parts";
import { Table, type Column } from "./table";

const step = 25;

type Props<T> = { title: string; columns: Column<T>[]; rows: T[]; id: (row: T) => string };

export function Twin<T>(props: Props<T>) {
  const [open, setOpen] = useState(false);
  return (
    <details class="twin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("plot.table")}</summary>
      {open && <Long {...props} />}
    </details>
  );
}

/** A table that shows some rows at first and more on demand. */
export function Long<T>({ title, columns, rows, id }: Props<T>) {
  const [shown, setShown] = useState(step);
  return (
    <>
      <Table caption={t("plot.of", { title })} columns={columns} rows={rows.slice(0, shown)} id={id} />
      {rows.length > shown && <div class="row center"><Button onClick={() => setShown(shown + step)}>{t("plot.more", { n: rows.length - shown })}</Button></div>}
    </>
  );
}
