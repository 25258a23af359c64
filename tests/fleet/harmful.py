# A stand-in for the program, which harms at files with these words in their name. Otherwise it runs the program.
import json
import os
import signal
import subprocess
import sys

real = subprocess.Popen([os.environ["MEMSCAPE_REAL_BINARY"], *sys.argv[1:]], stdin=subprocess.PIPE)
for line in iter(sys.stdin.buffer.readline, b""):
    # Only the line of a file that is read has a path.
    if b'"path"' in line:
        name = os.path.basename(json.loads(line)["url"])
        if "kill-worker" in name:
            os.kill(os.getppid(), signal.SIGKILL)
        if "crash" in name:
            real.kill()
            real.wait()
            os.kill(os.getpid(), signal.SIGKILL)
        if "stall" in name:
            real.kill()
            real.wait()
            signal.pause()
    real.stdin.write(line)
    real.stdin.flush()
real.stdin.close()
sys.exit(real.wait())
