// The pages that were shared and have not ended: how often each was read, and its end.
import { useState } from "preact/hooks";
import type { Share } from "../../gen/scrollery/v1/shares_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, usePages } from "../api/query";
import { researchScopes } from "../api/session";
import { dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { Dialog } from "../ui/dialog";
import { Button, Card } from "../ui/parts";
import { Empty, ProblemView, ShowPages } from "../ui/states";
import { Table } from "../ui/table";

export function Shares() {
  const shares = usePages(async (pageToken, signal) => {
    const page = await more.shares.listShares({ pageSize: 25, pageToken }, { signal });
    return { items: page.shares, next: page.nextPageToken };
  }, []);
  const [ending, setEnding] = useState<Share | null>(null);
  return (
    <Card title={t("account.shares")}>
      <p class="muted">{t("shares.text")}</p>
      <ShowPages of={shares} empty={<Empty title={t("shares.none")} text={t("shares.noneText")} />}>
        {(items) => (
          <Table caption={t("account.shares")} rows={items} id={(one) => one.id} columns={[
            { title: t("share.heading"), head: true, cell: (one) => <bdi>{one.title}</bdi> },
            { title: t("shares.kind"), cell: (one) => word("shareKind", one.kind) },
            { title: t("shares.opens"), number: true, cell: (one) => number(one.views) },
            { title: t("shares.made"), cell: (one) => <span class="nowrap">{dateTime(one.createdAt)}</span> },
            { title: t("shares.ends"), cell: (one) => <span class="nowrap">{dateTime(one.expiresAt)}</span> },
            { title: t("library.actions"), cell: (one) => <Button kind="danger" aria-label={`${t("shares.end")}: ${one.title.slice(0, 60)}`} onClick={() => setEnding(one)}>{t("shares.end")}</Button> },
          ]} />
        )}
      </ShowPages>
      {ending && <End of={ending} close={(ended) => { setEnding(null); if (ended) shares.reload(); }} />}
    </Card>
  );
}

function End({ of, close }: { of: Share; close: (ended: boolean) => void }) {
  const end = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await more.shares.revokeShare({ id: of.id });
    announce(t("share.ended"));
    close(true);
  });
  return (
    <Dialog title={t("shares.endTitle")} onClose={() => close(false)}>
      <p>{t("shares.endText", { title: of.title })}</p>
      {end.problem && <ProblemView problem={end.problem} />}
      <div class="row">
        <Button kind="danger" busy={end.busy} onClick={() => void end.run()}>{t("shares.endDo")}</Button>
        <Button kind="quiet" onClick={() => close(false)}>{t("state.cancel")}</Button>
      </div>
    </Dialog>
  );
}
