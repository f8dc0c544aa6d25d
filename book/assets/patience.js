// The search index has two megabytes: it waits until somebody searches.
const { open, send } = XMLHttpRequest.prototype;

XMLHttpRequest.prototype.open = function (method, url, ...rest) {
  this.waits = String(url).endsWith("/search/search_index.json");
  open.call(this, method, url, ...rest);
};

XMLHttpRequest.prototype.send = function (body) {
  const search = document.getElementById("__search");
  if (this.waits && !search.checked) {
    search.addEventListener("change", () => send.call(this, body),
                            { once: true });
  } else {
    send.call(this, body);
  }
};
