// Loaded before a server that would listen on every address of the machine: it
// listens on 127.0.0.1, on any free port, and says which.
const net = require('node:net')
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => console.log(`LISTENING ${this.address().port}`))
  return listen.call(this, { host: '127.0.0.1', port: 0 }, rest.find((r) => typeof r === 'function'))
}
