// Asks for the key again while a call waits: what is typed on the page stays.
import { answer, question } from "../api/ask";
import { renew } from "../api/signin";
import { clients, session } from "../api/session";
import { t } from "../i18n/t";
import { Dialog } from "../ui/dialog";
import { KeyForm } from "../ui/keyform";
import { Button } from "../ui/parts";

export function KeyDialog() {
  const asked = question.value;
  if (!asked) return null;
  const decline = () => answer(false);
  return (
    <Dialog title={t(asked.why === "expired" ? "ask.expired" : "ask.scopes")} onClose={decline}>
      {clients.value.length > 1 && session.value?.name && <p class="strong"><bdi>{session.value.name}</bdi></p>}
      <p>{t(asked.why === "expired" ? "ask.expiredWhy" : "ask.scopesWhy")}</p>
      <KeyForm submit={t("ask.go")} use={async (key) => { await renew(key, asked.scopes); answer(true); }}>
        <Button kind="quiet" onClick={decline}>{t("ask.decline")}</Button>
      </KeyForm>
    </Dialog>
  );
}
