// "Whom do you watch?": from up to ten creators to a brief, a scroll and its first outliers,
// as `scrollery scroll try` does.
import { useRef, useState } from "preact/hooks";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { navigate, to } from "../shell/router";
import { TextArea } from "../ui/input";
import { Button, Card, Field } from "../ui/parts";
import { ProblemView } from "../ui/states";

const most = 10;
const longest = 300;

/** The handles and links of a text, each once. */
export function watchedOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
}

export function Watch() {
  const [text, setText] = useState("");
  const once = useRef(crypto.randomUUID());
  const made = useRef(false);
  const creators = watchedOf(text);
  const mistake = creators.length > most ? t("watch.most", { n: creators.length }) : creators.some((one) => one.length > longest) ? t("watch.long") : undefined;
  const start = useAction(async () => {
    if (mistake || creators.length === 0 || !(await allow(researchScopes))) return;
    const brief = { name: t("watch.name"), description: t("watch.description", { creators: creators.join(", ") }), competitors: creators };
    // A second press, after a scroll that could not start, changes the brief of the first.
    if (made.current) await api.workspace.updateWorkspace(brief);
    else await api.workspace.setWorkspace(brief);
    made.current = true;
    const { scroll } = await api.scrolls.createScroll({ idempotencyKey: once.current });
    if (scroll) navigate(to("scroll", scroll.id));
  });
  return (
    <Card title={t("watch.title")}>
      <form onSubmit={(event) => { event.preventDefault(); void start.run(); }}>
        <Field label={t("watch.creators")} hint={t("watch.hint")} mistake={mistake}>
          {(ids) => <TextArea rows={4} required value={text} onText={setText} maxLength={3100} placeholder={"@mkbhd\nhttps://www.youtube.com/@veritasium"} {...ids} />}
        </Field>
        {start.problem && <ProblemView problem={start.problem} />}
        <Button type="submit" kind="primary" busy={start.busy} disabled={mistake !== undefined}>{t("watch.go")}</Button>
      </form>
    </Card>
  );
}
