"""The Python SDK in the mode given, behind the line protocol of serve.mjs."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


def say(value):
    sys.stdout.write(json.dumps(value) + '\n')
    sys.stdout.flush()


def plain(model):
    return model.model_dump(mode='json', by_alias=True, exclude_unset=True)


async def answer(client, wish):
    seen = []

    async def progressed(progress, total, message):
        seen.append({'progress': progress, 'total': total, 'message': message})

    try:
        if wish['op'] == 'tools':
            result = await client.list_tools()
        else:
            result = await client.call_tool(
                wish['name'], wish['arguments'], progress_callback=progressed if wish.get('progress') else None
            )
        return {'result': plain(result), 'progress': seen}
    except MCPError as error:
        return {'failure': {'message': str(error), 'code': error.code}, 'progress': seen}
    except Exception as error:
        return {'failure': {'message': f'{type(error).__name__}: {error}'}, 'progress': seen}


async def main(target, mode):
    server = target if isinstance(target, str) else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, mode=mode) as client:
        say({'ready': True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            say(await answer(client, json.loads(line)))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2]))
