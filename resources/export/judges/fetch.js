const real = globalThis.fetch;
globalThis.fetch = (target, options = {}) => {
  const address = String(target.url ?? target);
  if (/^https:\/\/([^/]*\.)?promptfoo\.(app|dev)\//.test(address)) {
    return Promise.resolve(new Response('{}'));  // nothing of a trial leaves the machine
  }
  const {dispatcher, ...further} = options;
  const headers = new Headers(further.headers ?? target.headers ?? {});
  headers.set('x-studio-address', address);
  return real(process.env.STUDIO_RECORDER, {...further, headers});
};
