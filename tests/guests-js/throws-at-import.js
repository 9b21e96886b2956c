function port() {
  return settings.port;
}

export const manifest = { description: `Listens on ${port()}.` };
export default () => {};
