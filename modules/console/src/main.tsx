// The entry of the console: it restores the sign-in and shows the shell.
import { render } from "preact";
import { exchangeCode } from "./api/signin";
import { speak } from "./i18n/t";
import { App } from "./shell/app";
import { applyPreferences, preferred } from "./shell/preferences";
import { takeCode } from "./shell/router";

applyPreferences();
const code = takeCode();
if (code) void exchangeCode(code);
const root = document.getElementById("app");
const show = () => root && render(<App />, root);
// English is the language that needs nothing more.
void speak(preferred).catch(() => undefined).then(show);
