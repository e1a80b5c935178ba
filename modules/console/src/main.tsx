// The entry of the console: it restores the sign-in and shows the shell.
import { render } from "preact";
import { exchangeCode } from "./api/signin";
import { speak } from "./i18n/t";
import { App, preparePage } from "./shell/app";
import { applyPreferences, preferred } from "./shell/preferences";
import { takeCode } from "./shell/router";
import { idle, prepareAll } from "./ui/lazy";

applyPreferences();
const code = takeCode();
if (code) void exchangeCode(code);
const root = document.getElementById("app");
const show = () => root && render(<App />, root);
// English is the language that needs nothing more.
// The page's own script is waited for a little: the frame alone would flash.
const little = new Promise((done) => setTimeout(done, 300));
void Promise.all([speak(preferred).catch(() => undefined), Promise.race([preparePage(), little])]).then(show).then(idle).then(prepareAll).then(() => import("./plots")).catch(() => undefined);
