// The brief as it is, and its form: the first steps and the page of the brief share it.
import { useState } from "preact/hooks";
import type { Workspace } from "../../gen/scrollery/v1/workspace_pb";
import { allow, api } from "../api/client";
import { useAction, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Input, TextArea } from "../ui/input";
import { Button, Card, Field, Link, PageHead } from "../ui/parts";
import { Empty, ProblemView, Show } from "../ui/states";

export function BriefPage() {
  const found = useQuery(async (signal) => (await api.workspace.getWorkspace({}, { signal })).workspace ?? null, []);
  return (
    <>
      <PageHead title={t("nav.brief")} lead={t("brief.lead")} />
      <Show of={found} lines={6}>
        {(workspace) => workspace
          ? <Card><BriefForm key={workspace.updatedAt} workspace={workspace} done={(message) => { announce(message); found.reload(); }} /></Card>
          : <Empty title={t("brief.none")}><Link class="button primary" href={to()}>{t("nav.start")}</Link></Empty>}
      </Show>
    </>
  );
}

/** One line an entry, without empty ones. */
export function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** Sets the brief, or changes the one that there is. */
export function BriefForm({ workspace, done }: { workspace?: Workspace; done: (message: string) => void }) {
  const kept = {
    name: workspace?.name ?? "", description: workspace?.description ?? "", website: workspace?.website ?? "",
    appStoreUrl: workspace?.appStoreUrl ?? "", competitors: workspace?.competitors.join("\n") ?? "",
  };
  const [brief, setBrief] = useState(kept);
  const [archive, setArchive] = useState(false);
  const edit = (name: keyof typeof brief) => (text: string) => setBrief((before) => ({ ...before, [name]: text }));
  const moves = workspace !== undefined && (brief.website.trim() !== kept.website || brief.appStoreUrl.trim() !== kept.appStoreUrl);
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const competitors = linesOf(brief.competitors);
    const fields = {
      name: brief.name.trim() || undefined, description: brief.description.trim() || undefined,
      website: brief.website.trim() || undefined, appStoreUrl: brief.appStoreUrl.trim() || undefined, competitors,
    };
    if (!workspace) {
      await api.workspace.setWorkspace(fields);
      done(t("start.briefDone"));
      return;
    }
    const { archivedVideos } = await api.workspace.updateWorkspace({ ...fields, clearCompetitors: competitors.length === 0 || undefined, archivePriorSubject: (moves && archive) || undefined });
    done(archivedVideos > 0 ? t("brief.archivedNow", { n: archivedVideos }) : t("start.briefDone"));
  });
  const address = (hint: string, was: string) => (was ? `${hint} ${t("brief.keepSite")}` : hint);
  return (
    <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
      <Field label={t("brief.name")}>{(ids) => <Input value={brief.name} onText={edit("name")} maxLength={200} {...ids} />}</Field>
      <Field label={t("brief.description")} hint={t("brief.descriptionHint")}>{(ids) => <TextArea rows={4} required value={brief.description} onText={edit("description")} maxLength={20000} {...ids} />}</Field>
      <Field label={t("brief.website")} hint={address(t("brief.websiteHint"), kept.website)}>{(ids) => <Input value={brief.website} onText={edit("website")} inputMode="url" placeholder="https://" required={kept.website !== ""} maxLength={2048} {...ids} />}</Field>
      <Field label={t("brief.appStore")} hint={address(t("brief.appStoreHint"), kept.appStoreUrl)}>{(ids) => <Input value={brief.appStoreUrl} onText={edit("appStoreUrl")} inputMode="url" placeholder="https://apps.apple.com/" required={kept.appStoreUrl !== ""} maxLength={2048} {...ids} />}</Field>
      {moves && (
        <div class="notice warn stack">
          <p>{t("brief.subject")}</p>
          <label class="choice"><input type="checkbox" checked={archive} onChange={(event) => setArchive(event.currentTarget.checked)} /><span>{t("brief.archive")}</span></label>
        </div>
      )}
      <Field label={t("brief.competitors")} hint={t("brief.competitorsHint")}>{(ids) => <TextArea rows={workspace ? 8 : 3} value={brief.competitors} onText={edit("competitors")} {...ids} />}</Field>
      {save.problem && <ProblemView problem={save.problem} />}
      <Button type="submit" kind="primary" busy={save.busy}>{t("brief.save")}</Button>
    </form>
  );
}
