"""The one way out of a machine that has no network of its own: what connects to a port there comes out at a socket
file, and what connects to the socket file is taken to the port of the same number outside.

    cable.py inside|outside PORT=FILE ..."""
import asyncio
import fcntl
import socket
import struct
import sys


def up():
    """Switches loopback on, which in a new network is off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        is_up = 1
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", is_up))


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main(side, *ways):
    async def serve(port, file):
        async def connected(reader, writer):
            try:
                other = await (
                    asyncio.open_unix_connection(file)
                    if side == "inside"
                    else asyncio.open_connection("127.0.0.1", port)
                )
            except OSError:
                return writer.close()
            await asyncio.gather(copy(reader, other[1]), copy(other[0], writer))

        if side == "inside":
            return await asyncio.start_server(connected, "127.0.0.1", port)
        return await asyncio.start_unix_server(connected, file)

    if side == "inside":
        up()
    servers = [await serve(int(port), file) for port, file in (way.split("=") for way in ways)]
    print("ready", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main(*sys.argv[1:]))
