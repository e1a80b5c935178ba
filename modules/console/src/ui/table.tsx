// A table that scrolls by itself on narrow screens.
import type { ComponentChildren } from "preact";

export type Column<T> = {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers stand at the end of their cell. */
  number?: boolean;
  /** The title is not shown: the cells say what they are. */
  unseen?: boolean;
  /** The cell that names the row. */
  head?: boolean;
};

type Props<T> = {
  /** Names the table for those who do not see it; shown above it with `captioned`. */
  caption: string;
  captioned?: boolean;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => string;
};

export function Table<T>({ caption, captioned, columns, rows, id }: Props<T>) {
  return (
    <div class="scroller" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={captioned ? undefined : "hidden"}>{caption}</caption>
        <thead>
          <tr>{columns.map((column) => <th key={column.title} scope="col" class={column.number ? "number" : undefined}>{column.unseen ? <span class="hidden">{column.title}</span> : column.title}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>
              {columns.map((column) =>
                column.head
                  ? <th key={column.title} scope="row">{column.cell(row)}</th>
                  : <td key={column.title} class={column.number ? "number" : undefined}>{column.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
