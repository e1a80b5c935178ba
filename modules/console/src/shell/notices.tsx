// What concerns every page: no network, too many calls, no subscription.
import { useEffect, useState } from "preact/hooks";
import { notice } from "../api/ask";
import { t } from "../i18n/t";
import { Link } from "../ui/parts";
import { to } from "./router";

export function Notices() {
  const current = notice.value;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (current?.kind !== "limited") return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [current]);
  return (
    <div role="status" class="notices">
      {current?.kind === "offline" && <p class="notice bad">{t("notice.offline")}</p>}
      {current?.kind === "limited" && (
        <p class="notice warn">
          {t("notice.limited")} <span aria-hidden="true">{t("notice.wait", { n: Math.max(1, Math.ceil(((current.until ?? now) - now) / 1000)) })}</span>
        </p>
      )}
      {current?.kind === "subscription" && <p class="notice warn">{t("notice.subscription")} <Link href={to("subscribe")}>{t("notice.subscribe")}</Link></p>}
    </div>
  );
}
