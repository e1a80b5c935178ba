// The inside of the dialog that shares: what others will see and until when, then the link, which
// the server shows once.
import { useState } from "preact/hooks";
import type { CreateShareResponse } from "../../gen/scrollery/v1/shares_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { dateTime } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, to } from "../shell/router";
import { Input } from "../ui/input";
import { Button, Copy, Field } from "../ui/parts";
import type { Shared } from "../ui/share";
import { ProblemView } from "../ui/states";

const day = 86_400_000;
/** Days until the page ends. The server chooses without one: 30, or as long as the sources allow. */
const lives = [0, 7, 90, 365] as const;
/** The most videos of a collection's page. */
const most = 100;

export function ShareForm({ of, close }: { of: Shared; close: () => void }) {
  const [title, setTitle] = useState(of.title.slice(0, 200));
  const [life, setLife] = useState<number>(0);
  const [made, setMade] = useState<CreateShareResponse | null>(null);
  const [copied, setCopied] = useState(false);
  const make = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const { kind, title: _, ...what } = of;
    const answer = await more.shares.createShare({
      kind, title: title.trim(), expiresAt: life > 0 ? Date.now() + life * day - 60_000 : undefined,
      ...("id" in what ? { id: what.id } : { sentences: what.sentences.map((one) => one.slice(0, 1000)), videoIds: what.videoIds }),
    });
    setMade(answer);
    announce(t(answer.found ? "share.made" : "share.missing"));
    // A report is made to be sent. Where the browser does not allow it, the button copies.
    if (of.kind === "report" && answer.url) await navigator.clipboard.writeText(answer.url).then(() => setCopied(true), () => undefined);
  });
  const end = useAction(async () => {
    await more.shares.revokeShare({ id: made?.share?.id ?? "" });
    announce(t("share.ended"));
    close();
  });
  if (made?.found && made.share && made.url) {
    return (
      <>
        <p class="secret"><code>{made.url}</code></p>
        <p>{copied && <strong>{t("report.copied")} </strong>}{t("share.once")} {t("share.until", { at: dateTime(made.share.expiresAt) })}</p>
        {end.problem && <ProblemView problem={end.problem} />}
        <div class="row">
          <Copy text={made.url} label={t("share.copy")} />
          <Button kind="quiet" busy={end.busy} onClick={() => void end.run()}>{t("share.endNow")}</Button>
          <Button kind="quiet" onClick={close}>{t("save.close")}</Button>
        </div>
        <div class="row"><Button kind="quiet" onClick={() => { close(); navigate(to("account", "shares")); }}>{t("account.shares")}</Button></div>
      </>
    );
  }
  return (
    <form onSubmit={(event) => { event.preventDefault(); void make.run(); }}>
      <p>{t("share.seen")}</p>
      <ul class="bullets">
        {of.kind === "report" ? <li>{t("report.seen")}</li> : "sentences" in of && of.sentences.map((one) => <li key={one}><bdi>{one}</bdi></li>)}
        <li>{of.kind === "collection" ? t("share.collection", { n: Math.min(of.videos, most), of: of.videos }) : t("share.videos", { n: "videoIds" in of ? of.videoIds.length : 1 })}</li>
        <li>{t(of.kind === "report" ? "report.unseen" : "share.unseen")}</li>
      </ul>
      <Field label={t("share.heading")} hint={t("share.headingHint")}>{(ids) => <Input value={title} onText={setTitle} required maxLength={200} {...ids} />}</Field>
      <Field label={t("share.life")} {...(life === 0 ? { hint: t("share.usualHint") } : {})}>
        {(ids) => (
          <select value={life} onChange={(event) => setLife(Number(event.currentTarget.value))} {...ids}>
            {lives.map((days) => <option key={days} value={days}>{days === 0 ? t("share.usual") : t("share.days", { n: days })}</option>)}
          </select>
        )}
      </Field>
      {make.problem && <ProblemView problem={make.problem} />}
      {made && !made.found && <p class="notice warn" role="alert">{t("share.missing")}</p>}
      <div class="row">
        <Button type="submit" kind="primary" busy={make.busy} disabled={!title.trim()}>{t("share.make")}</Button>
        <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
      </div>
    </form>
  );
}
