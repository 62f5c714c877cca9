/* A program with a window of the class and the title that it is called with, as a screen reader has one:
   reader.exe CLASS TITLE
   It is there until it is ended. */
#include <windows.h>

int main(int count, char **words)
{
    WNDCLASSA class = {0};
    MSG message;
    if (count != 3)
        return 2;
    class.lpfnWndProc = DefWindowProcA;
    class.hInstance = GetModuleHandleA(NULL);
    class.lpszClassName = words[1];
    if (!RegisterClassA(&class)
        || !CreateWindowA(words[1], words[2], 0, 0, 0, 0, 0, NULL, NULL, class.hInstance, NULL))
        return 1;
    while (GetMessageA(&message, NULL, 0, 0) > 0)
        DispatchMessageA(&message);
    return 0;
}
