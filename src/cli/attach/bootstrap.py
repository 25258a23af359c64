"""Runs in a program that `memscape attach` asks. The text "REQUEST" is replaced by a JSON object as a string."""


def _memscape_attach(text):
    import importlib.abc
    import importlib.util
    import json
    import os
    import sys

    request = json.loads(text)
    sources = request.pop("modules")

    class Recorder(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
        """Imports the package from memory, so that the program needs no installation and no file stays behind."""

        def find_spec(self, name, path, target=None):
            if name not in sources:
                return None
            return importlib.util.spec_from_file_location(
                name,
                self.get_filename(name),
                loader=self,
                submodule_search_locations=["<memscape>"] if name == "memscape" else None,
            )

        def get_filename(self, name):
            return f"<memscape>/{name.rpartition('.')[2]}.py"

        def get_source(self, name):
            return sources[name]

    reply = {"pid": os.getpid(), "python": sys.version.split()[0]}
    torch = sys.modules.get("torch")
    try:
        if torch is None:
            # Imported here it would take seconds, and the program would not use it.
            reply["error"] = "the program has not imported torch yet"
        else:
            reply["torch"] = str(torch.__version__)
            # An installed package that is in use stays in use.
            if "memscape" not in sys.modules:
                sys.meta_path.insert(0, Recorder())
            from memscape._attached import answer

            reply.update(answer(request))
    except BaseException as error:
        reply["error"] = f"{type(error).__name__}: {error}"
    # The file appears once it is complete.
    with open(request["reply"] + ".new", "w", encoding="utf-8") as file:
        json.dump(reply, file)
    os.replace(request["reply"] + ".new", request["reply"])


_memscape_attach("REQUEST")
del _memscape_attach
