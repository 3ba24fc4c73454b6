// What the scripts of the pages share.
const byId = id => document.getElementById(id);
const say = (text, bad) => { byId('message').textContent = text; byId('message').className = bad ? 'bad' : ''; };

// Errors come as programs write them; a person reads a sentence.
const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

function element(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

// The JSON of an answer. Whatever else comes back is an Error whose message is a sentence that is true of it.
// Where the connection breaks it is asked once more: a network that changes (Wi-Fi, VPN) ends all connections of a browser.
async function ask(url, options, again = true) {
  let reply, text;
  try {
    reply = await fetch(url, options);
    text = await reply.text();
  } catch (cause) {
    if (again) return ask(url, options, false);
    throw new Error('No answer came from the server: it was stopped, or the connection to it was lost.');
  }
  let answer = null;
  try { answer = JSON.parse(text); } catch (cause) { /* another program answered, or the answer was cut off */ }
  if (answer?.error) throw Object.assign(new Error(sentence(String(answer.error))), { answer });
  if (reply.ok && answer) return answer;
  if (reply.ok) throw new Error('The server gave an answer that this page cannot read.');
  if (reply.status === 413) throw new Error('The server says that the file is too large.');
  throw new Error(`The server gave an error (${reply.status} ${reply.statusText}).`);
}

// A version is a number; where it is a time, people read a date.
function versionName(version) {
  const seconds = Number(version);
  if (!(seconds > 1e9 && seconds < 1e10)) return 'version ' + version;
  return 'of ' + new Date(1000 * seconds).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
}

// The report is linked where there is one.
const linkReport = there => { byId('report').hidden = !there; };
