// Collections: all of them, and a form for a new one; with an id, one collection.
import { useState } from "preact/hooks";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { dateTime, relative } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Input, TextArea } from "../ui/input";
import { Button, Card, Field, Link, PageHead, Quote } from "../ui/parts";
import { Empty, ProblemView, Show } from "../ui/states";
import { OneCollection } from "./collections-one";
import { allCollections } from "./collections-read";
import type { PageProps } from "./index";

export function Collections({ rest }: PageProps) {
  return rest[0] ? <OneCollection key={rest[0]} id={rest[0]} /> : <Overview />;
}

function Overview() {
  const list = useQuery(allCollections, []);
  return (
    <>
      <PageHead title={t("nav.collections")} lead={t("collections.lead")} />
      <Show of={list} lines={6}>
        {(collections) => collections.length === 0 ? <Empty title={t("collections.none")} text={t("collections.noneText")} /> : (
          <ul class="cards collections">
            {collections.map((one) => (
              <li key={one.id} class="card">
                <h2><Link href={to("collections", one.id)}><bdi>{one.name}</bdi></Link></h2>
                {one.note && <Quote text={one.note} lines={3} />}
                <p class="muted small">{t("collections.videos", { n: one.videos })} · <time dateTime={new Date(one.updatedAt).toISOString()} title={dateTime(one.updatedAt)}>{t("collections.changed")} {relative(one.updatedAt)}</time></p>
              </li>
            ))}
          </ul>
        )}
      </Show>
      <Card title={t("collections.new")}><Make done={list.reload} /></Card>
    </>
  );
}

function Make({ done }: { done: () => void }) {
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const [made, setMade] = useState<{ id: string; name: string; existing: boolean } | null>(null);
  const make = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const { collection, outcome } = await more.collections.createCollection({ name: name.trim(), note: note.trim() || undefined });
    if (!collection) return;
    const existing = outcome === "existing";
    announce(existing ? t("collections.taken") : t("collections.made", { name: collection.name }));
    setMade({ id: collection.id, name: collection.name, existing });
    setName("");
    setNote("");
    done();
  });
  return (
    <form onSubmit={(event) => { event.preventDefault(); void make.run(); }}>
      <Field label={t("collections.name")}>{(ids) => <Input value={name} onText={setName} required maxLength={100} {...ids} />}</Field>
      <Field label={t("collections.note")}>{(ids) => <TextArea rows={2} value={note} onText={setNote} maxLength={2000} {...ids} />}</Field>
      {make.problem && <ProblemView problem={make.problem} />}
      {made && <p>{made.existing ? t("collections.taken") : t("collections.made", { name: made.name })} <Link href={to("collections", made.id)}>{t("save.open")}</Link></p>}
      <Button type="submit" kind="primary" busy={make.busy} disabled={!name.trim()}>{t("collections.make")}</Button>
    </form>
  );
}
